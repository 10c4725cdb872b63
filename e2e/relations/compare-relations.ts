import type { Relations, Tuple } from '#relations/ports';
import { ExpectedRelations, type Fact } from './expected-relations.ts';

/** A relation store behind two replicas: a change is sent to one, the next check to the other. */
export type Store = { readonly name: string; readonly replicas: readonly [Relations, Relations] };

type Comparison = {
  readonly grants: number;
  readonly revokes: number;
  readonly checks: number;
  readonly allowed: number;
  /** Answers that differ between the two stores. */
  readonly differences: number;
  /** Rights that a store granted although no relation grants them any more, or ever did. */
  readonly staleAllows: number;
  /** Answers that differ from the expected relations, including stale rights. */
  readonly wrong: number;
  /** Description of the first wrong answer. */
  readonly first: string | undefined;
};

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const named = (type: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${type}:${at}`);
const users = named('user', 6);
const agents = named('agent', 3);
const groups = named('group', 5);
const collections = named('collection', 5);
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
  [anybody, 'owner', collections],
  [anybody, 'writer', collections],
  [anybody, 'reader', collections],
  [collections, 'parent', collections],
  [collections, 'parent', documents],
  [anybody, 'viewer', documents],
];

/** Applies random steps to both stores and compares every answer with the other store's and the expected one. */
export async function compareRelations(
  stores: readonly [Store, Store],
  steps: number,
  seed: number,
): Promise<Comparison> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const expected = new ExpectedRelations();
  const counts = { grants: 0, revokes: 0, checks: 0, allowed: 0, differences: 0, staleAllows: 0, wrong: 0 };
  let first: string | undefined;
  let turn = 0;

  function randomFact(): Fact {
    const [subjects, relation, objects] = pick(grantable);
    const object = pick(objects);
    // Neither store accepts a group's member set as its own member.
    return [pick(subjects.filter((subject) => subject !== `${object}#${relation}`)), relation, object];
  }
  async function change(kind: 'grant' | 'revoke', facts: readonly Fact[]): Promise<void> {
    const tuples = facts.map(([subject, relation, object]): Tuple => ({ subject, relation, object }));
    await Promise.all(stores.map(({ replicas }) => replicas[turn % 2 === 0 ? 0 : 1][kind](tuples)));
    for (const fact of facts) kind === 'grant' ? expected.add(fact) : expected.remove(fact);
  }
  async function check(subject: string, relation: string, object: string): Promise<void> {
    const right = expected.holds(subject, relation, object);
    const answers = await Promise.all(
      stores.map(({ replicas }) => replicas[turn % 2 === 0 ? 1 : 0].check(subject, relation, object)),
    );
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
      await check(pick([...users, ...agents]), relation, pick(objects));
    }
  }
  return { ...counts, first };
}
