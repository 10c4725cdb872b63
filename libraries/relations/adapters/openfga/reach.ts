import { model, type ObjectType, type RelationRule } from '../../model.ts';
import { RelationsModelError } from '../../relations-error.ts';
import type { Tuple } from '../../tuple.ts';

/** Every tuple of a subject to objects of a type, complete. */
export type ReadTuples = (subject: string, type: ObjectType) => Promise<readonly Tuple[]>;

/** Maximum number of pairs of object and relation that one call visits. */
export const largestReach = 10_000;

/** Number of tuples that one walk reads concurrently. */
const readsAtOnce = 16;

type WalkPorts = {
  readonly read: ReadTuples;
  /** Maximum number of visited pairs; `largestReach` or less. */
  readonly most: number;
};
type Reached = Pick<Tuple, 'object' | 'relation'>;
type Question = {
  readonly subject: string;
  readonly relation: string;
  readonly type: ObjectType;
  readonly claimed: readonly string[];
};

export function tooComplex(): RelationsModelError {
  return new RelationsModelError('too_complex', 'the relation has too many groups and parents');
}

/** Groups that have the subject as a member. ListObjects of the server silently truncates its result at a limit. */
export function groupsFrom(
  { read, most }: WalkPorts,
  subject: string,
  claimed: readonly string[],
): Promise<readonly string[]> {
  return objectsFrom({ read, most }, { subject, relation: 'member', type: 'group', claimed });
}

/** Objects of a type to which the subject has the relation: each step reads all tuples of one subject. */
export async function objectsFrom({ read, most }: WalkPorts, question: Question): Promise<readonly string[]> {
  const { subject, relation, type, claimed } = question;
  const types = typesTowards(type);
  const reached = new Map<string, Reached>();
  const open: Reached[] = [];

  function reach(one: Reached): void {
    const key = `${one.object} ${one.relation}`;
    if (reached.has(key)) return;
    if (reached.size >= most) throw tooComplex();
    reached.set(key, one);
    open.push(one);
  }
  async function hold(holder: string): Promise<void> {
    const lists = await Promise.all([...types].map((one) => read(holder, one)));
    for (const tuple of lists.flat()) reach(tuple);
  }
  async function follow(one: Reached): Promise<void> {
    if (one.relation === 'member') await hold(`${one.object}#member`);
    for (const [other, name, rule] of rules) {
      for (const also of rule.also) {
        if (also.relation !== one.relation) continue;
        if (!('through' in also)) {
          if (one.object.startsWith(`${other}:`)) reach({ object: one.object, relation: name });
        } else if (types.has(other) && isParent(one.object)) {
          const children = await read(one.object, other);
          for (const child of children)
            if (child.relation === also.through) reach({ object: child.object, relation: name });
        }
      }
    }
  }

  for (const group of claimed) reach({ object: group, relation: 'member' });
  await hold(subject);
  while (open.length > 0) await Promise.all(open.splice(-readsAtOnce).map(follow));
  const found = [...reached.values()].filter((one) => one.relation === relation && one.object.startsWith(`${type}:`));
  return found.map(({ object }) => object).sort();
}

const rules = Object.entries(model).flatMap(([type, relations]) =>
  Object.entries(relations).map(([name, rule]): [ObjectType, string, RelationRule] => [type as ObjectType, name, rule]),
);

/**
 * Types whose tuples can give relations to an object of the type: groups, the type itself, and collections as parents.
 */
function typesTowards(type: ObjectType): ReadonlySet<ObjectType> {
  return new Set<ObjectType>(type === 'document' ? ['group', 'collection', type] : ['group', type]);
}

function isParent(object: string): boolean {
  return object.startsWith('collection:');
}
