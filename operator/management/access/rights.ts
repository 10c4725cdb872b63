import type { AuditAuthor } from '#contracts/audit';
import type { ObjectType } from '#relations/model';
import type { Relations } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { userSubject } from '#relations/subject';
import type { RequiredRight } from './required-right.ts';

/** Whose right is checked: the subject of a token, its groups, and the actors that it names. */
type RightHolder = {
  readonly author: AuditAuthor;
  /** Objects of relations. */
  readonly groups: readonly string[];
};

export type Rights = {
  /**
   * Whether the subject and every actor have the right now. Groups of the token count for its subject only: an actor
   * gains no right from acting for an administrator. @throws RelationsUnavailableError
   */
  has(holder: RightHolder, right: RequiredRight): Promise<boolean>;
  /**
   * The ids of single objects to which the subject and every actor have the relation now; empty if the store cannot
   * follow that many. @throws RelationsUnavailableError
   */
  objects(holder: RightHolder, relation: RequiredRight['relation'], type: ObjectType): Promise<readonly string[]>;
};

export function createRights(relations: Pick<Relations, 'check' | 'objectsOf'>): Rights {
  async function holds(subject: string, groups: readonly string[], { relation, objects }: RequiredRight) {
    for (const object of objects) {
      if (await relations.check(subject, relation, object, groups)) return true;
    }
    return false;
  }

  return {
    async has(holder, right) {
      try {
        const chain = chainOf(holder);
        if (chain.length === 0) return false;
        const answers = await Promise.all(chain.map((one) => holds(one.subject, one.groups, right)));
        return answers.every((answer) => answer === true);
      } catch (error) {
        // A subject that cannot be written as a relation cannot have any relation.
        if (error instanceof RelationsModelError) return false;
        throw error;
      }
    },
    async objects(holder, relation, type) {
      try {
        const lists = await Promise.all(
          chainOf(holder).map((one) => relations.objectsOf(one.subject, relation, type, one.groups)),
        );
        const [first = [], ...others] = lists;
        const shared = first.filter((object) => others.every((list) => list.includes(object)));
        return shared.map((object) => object.slice(type.length + 1));
      } catch (error) {
        if (error instanceof RelationsModelError) return [];
        throw error;
      }
    },
  };
}

/** The subject of a token and its actors; empty for every other author. @throws RelationsModelError */
function chainOf({ author, groups }: RightHolder) {
  if (author.kind !== 'token') return [];
  return [
    { subject: userSubject(author), groups },
    ...author.actors.map((actor) => ({ subject: userSubject(actor), groups: [] })),
  ];
}
