import type { Relations, Tuple } from '#relations/ports';
import { randomFrom } from '../support/random-from.ts';
import { ExpectedRelations, type Fact } from './expected-relations.ts';

/** A store of relations with two replicas: a change is sent to one replica, and the next check to the other. */
export type Store = { readonly name: string; readonly replicas: readonly [Relations, Relations] };

type Comparison = {
  readonly grants: number;
  readonly revokes: number;
  readonly checks: number;
  /** Lists of groups, objects or tuples that were compared. */
  readonly lists: number;
  readonly allowed: number;
  /** Answers that differ between the two stores. */
  readonly differences: number;
  /** Rights that a store granted although no relation grants them, or ever did. */
  readonly staleAllows: number;
  /** Answers that differ from the expected relations, including stale rights. */
  readonly wrong: number;
  /** Description of the first wrong answer. */
  readonly first: string | undefined;
};

const named = (type: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${type}:${at}`);
const users = named('user', 6);
const agents = named('agent', 3);
/** Objects with the same ids in two tenants. */
const ofTenants = (type: string, count: number): readonly string[] =>
  ['t', 'u'].flatMap((tenant) => Array.from({ length: count }, (_, at) => `${type}:${tenant}/${at}`));
const groups = ofTenants('group', 3);
const collections = ofTenants('collection', 3);
const documents = named('document', 5);
const members = groups.map((group) => `${group}#member`);
const anybody = [...users, ...agents, ...members];

/**
 * Possible relations: subjects, relation, objects. Few enough that chains, cycles and alternative paths are frequent.
 */
const grantable: readonly (readonly [readonly string[], string, readonly string[]])[] = [
  [anybody, 'member', groups],
  [[...users, ...members], 'administer', ['control_plane:control-plane']],
  [anybody, 'view', agents],
  [anybody, 'invoke', agents],
  [users, 'owner', collections],
  [anybody, 'writer', collections],
  [anybody, 'reader', collections],
  [collections, 'parent', collections],
  [collections, 'parent', documents],
  [anybody, 'viewer', documents],
];

/**
 * Whether a relation can be granted: no store accepts a group or a collection below itself, nor below one of another
 * tenant.
 */
function isGrantable(subject: string, object: string): boolean {
  const [inner, outer] = [subject, object].map((name) => /^(?:group|collection):(\w)\/(\d+)/.exec(name));
  if (!inner || !outer) return true;
  return inner[1] === outer[1] && inner[0] !== outer[0];
}

/**
 * Applies random steps to both stores and compares every answer with that of the other store and with the expected
 * answer.
 */
export async function compareRelations(
  stores: readonly [Store, Store],
  steps: number,
  seed: number,
): Promise<Comparison> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const expected = new ExpectedRelations();
  const counts = { grants: 0, revokes: 0, checks: 0, lists: 0, allowed: 0, differences: 0, staleAllows: 0, wrong: 0 };
  let first: string | undefined;
  let turn = 0;

  function randomFact(): Fact {
    const [subjects, relation, objects] = pick(grantable);
    const object = pick(objects);
    return [pick(subjects.filter((subject) => isGrantable(subject, object))), relation, object];
  }
  async function change(kind: 'grant' | 'revoke', facts: readonly Fact[]): Promise<void> {
    const tuples = facts.map(([subject, relation, object]): Tuple => ({ subject, relation, object }));
    await Promise.all(stores.map(({ replicas }) => replicas[turn % 2 === 0 ? 0 : 1][kind](tuples)));
    for (const fact of facts) kind === 'grant' ? expected.add(fact) : expected.remove(fact);
  }
  const ask = <T>(question: (relations: Relations) => Promise<T>): Promise<T[]> =>
    Promise.all(stores.map(({ replicas }) => question(replicas[turn % 2 === 0 ? 1 : 0])));

  async function check(
    subject: string,
    relation: string,
    object: string,
    claimed: readonly string[] = [],
  ): Promise<void> {
    const right = expected.claiming(subject, claimed).holds(subject, relation, object);
    const answers = await ask((relations) => relations.check(subject, relation, object, claimed));
    counts.checks += 1;
    if (right) counts.allowed += 1;
    if (answers[0] !== answers[1]) counts.differences += 1;
    for (const [at, answer] of answers.entries()) {
      if (answer === right) continue;
      counts.wrong += 1;
      if (answer) counts.staleAllows += 1;
      first ??= `${stores[at]?.name} says ${answer} to ${subject} ${relation} ${object}, step ${turn}, seed ${seed}`;
    }
  }

  /** Compares lists: every list must be complete and have no duplicates and no other entries. */
  async function compareLists(right: readonly string[], lists: readonly (readonly string[])[]): Promise<void> {
    const [wanted, ...found] = [right, ...lists].map((list) => list.toSorted().join('\n')) as [string, ...string[]];
    counts.lists += 1;
    if (found[0] !== found[1]) counts.differences += 1;
    for (const [at, list] of found.entries()) {
      if (list === wanted) continue;
      counts.wrong += 1;
      if (lists[at]?.some((one) => !right.includes(one))) counts.staleAllows += 1;
      first ??= `${stores[at]?.name} lists ${list} instead of ${wanted}, step ${turn}, seed ${seed}`;
    }
  }
  async function list(subject: string, claimed: readonly string[]): Promise<void> {
    const held = expected.claiming(subject, claimed);
    const having = (relation: string, objects: readonly string[]) =>
      objects.filter((object) => held.holds(subject, relation, object));
    await compareLists(having('member', groups), await ask((relations) => relations.groupsOf(subject, claimed)));
    const relation = pick(['owner', 'writer', 'reader'] as const);
    await compareLists(
      having(relation, collections),
      await ask((relations) => relations.objectsOf(subject, relation, 'collection', claimed)),
    );
    const object = pick(collections);
    const given = expected.facts.filter((fact) => fact[2] === object).map((fact) => fact.join(' '));
    const lines = (tuples: readonly Tuple[]) => tuples.map((one) => `${one.subject} ${one.relation} ${one.object}`);
    await compareLists(given, await ask(async (relations) => lines(await relations.tuplesOf(object))));
  }

  for (turn = 0; turn < steps; turn += 1) {
    const what = random();
    // Number of relations with which allowed and denied checks are about equally frequent.
    const isFull = expected.facts.length >= 24;
    if (what < (isFull ? 0.08 : 0.25)) {
      counts.grants += 1;
      await change('grant', Array.from({ length: 1 + Math.floor(random() * 3) }, randomFact));
    } else if (what < 0.4 && expected.facts.length > 0) {
      counts.revokes += 1;
      const fact = random() < 0.9 ? pick(expected.facts) : randomFact();
      // Compares the same check before and after the change.
      const asker = pick([...users, ...agents]);
      await check(asker, fact[1] === 'parent' ? 'reader' : fact[1], fact[1] === 'parent' ? fact[0] : fact[2]);
      await change('revoke', [fact]);
      if (/^(user|agent):/.test(fact[0])) await check(fact[0], fact[1], fact[2]);
    } else {
      const [, relation, objects] = pick(grantable.filter(([, name]) => name !== 'parent'));
      const asker = pick([...users, ...agents]);
      const claimed = random() < 0.3 ? [pick(groups)] : [];
      if (what < 0.55) await list(asker, claimed);
      else await check(asker, relation, pick(objects), claimed);
    }
  }
  return { ...counts, first };
}
