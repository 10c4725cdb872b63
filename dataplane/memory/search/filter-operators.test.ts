import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const stored = [
  {
    ...{ text: 'kept one', agent_id: 'tutor', run_id: 'r1', categories: ['drinks', 'hot'] },
    metadata: { rank: 1, name: 'Alpha', isNew: true, tags: ['x', 'y'] },
  },
  { text: 'kept two', agent_id: 'tutor', categories: ['food'], metadata: { rank: 2, name: 'beta', isNew: false } },
  { text: 'kept three', agent_id: 'coach', run_id: 'r2', metadata: { rank: '2', name: 'Gamma' } },
] as const;
const [one, two, three] = ['one', 'two', 'three'] as const;
const at = (day: number) => `2026-01-0${day}T00:00:00.500Z`;

/** Each operator over the scope, categories, members of metadata and times. */
const filters: readonly (readonly [filters: object, found: readonly string[]])[] = [
  [{ agent_id: 'tutor' }, [one, two]],
  [{ agent_id: { eq: 'coach' } }, [three]],
  [{ agent_id: { ne: 'tutor' } }, [three]],
  [{ agent_id: { in: ['coach', 'other'] } }, [three]],
  [{ agent_id: { gt: 'coach' } }, [one, two]],
  [{ agent_id: { gte: 'coach' } }, [one, two, three]],
  [{ agent_id: { lt: 'tutor' } }, [three]],
  [{ agent_id: { lte: 'tutor' } }, [one, two, three]],
  [{ agent_id: { contains: 'uto' } }, [one, two]],
  [{ agent_id: { contains: 'UTO' } }, []],
  [{ agent_id: { icontains: 'UTO' } }, [one, two]],
  [{ run_id: { ne: 'r1' } }, [two, three]],
  [{ run_id: '*' }, [one, three]],
  [{ run_id: { ne: '*' } }, [two]],
  [{ user_id: 'ann' }, [one, two, three]],
  [{ user_id: { eq: '*' } }, [one, two, three]],
  [{ NOT: { user_id: 'ann' } }, []],
  [{ role: 'user' }, [one, two, three]],
  [{ categories: 'hot' }, [one]],
  [{ categories: { ne: 'hot' } }, [two, three]],
  [{ categories: ['hot', 'food'] }, [one, two]],
  [{ categories: { contains: 'drinks' } }, [one]],
  [{ categories: { contains: 'drink' } }, []],
  [{ categories: { icontains: 'DRINK' } }, [one]],
  [{ categories: { lt: 'e' } }, [one]],
  [{ 'metadata.rank': 2 }, [two]],
  [{ 'metadata.rank': { ne: 2 } }, [one, three]],
  [{ 'metadata.rank': { in: [1, '2'] } }, [one, three]],
  [{ 'metadata.rank': { gt: 1 } }, [two]],
  [{ 'metadata.rank': { gte: 1, lte: 2 } }, [one, two]],
  [{ 'metadata.rank': { lt: 2 } }, [one]],
  [{ metadata: { name: { contains: 'a' }, isNew: '*' } }, [one, two]],
  [{ metadata: { name: { icontains: 'ALPHA' } } }, [one]],
  [{ metadata: { isNew: false } }, [two]],
  [{ metadata: { tags: { contains: 'y' } } }, [one]],
  [{ created_at: at(2) }, [two]],
  [{ created_at: { ne: at(2) } }, [one, three]],
  [{ created_at: { in: [at(1), at(3)] } }, [one, three]],
  [{ created_at: { gt: at(2) } }, [three]],
  [{ created_at: { gte: at(2), lt: at(3) } }, [two]],
  [{ created_at: { lte: '2026-01-01T03:00:00.500+03:00' } }, [one]],
  [{ created_at: { gte: '2026-01-03' } }, [three]],
  [{ updated_at: { lt: '2026-01-02T00:00:00' } }, []],
  [{ AND: [{ agent_id: 'tutor' }, { categories: 'food' }] }, [two]],
  [{ OR: [{ agent_id: 'coach' }, { categories: 'food' }] }, [two, three]],
  [{ NOT: { OR: [{ agent_id: 'coach' }, { categories: 'food' }] } }, [one]],
  [{ NOT: [{ agent_id: 'coach' }, { categories: 'food' }] }, [one]],
  [{ agent_id: 'tutor', NOT: { 'metadata.rank': { gte: 2 } }, OR: [{ run_id: '*' }, { role: 'tool' }] }, [one]],
  [{ AND: [{ OR: [{ run_id: 'r1' }, { run_id: 'r2' }] }, { NOT: { 'metadata.rank': 1 } }] }, [three]],
];

describe.skipIf(missingPostgres !== undefined)(onPostgres('the operators of search filters'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
    for (const { text, ...more } of stored) {
      await memory.add(ann, { messages: [{ role: 'user', content: text }], infer: false, ...more });
    }
    // No search has loaded the memories yet.
    for (const [place, { text }] of stored.entries()) {
      await memory.database.database.sql`
        update memory.memories set created_at = ${at(place + 1)}::timestamptz where text = ${text}`;
    }
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  test.each(filters)('the filters %j find exactly the memories that fulfil them', async (own, found) => {
    const texts = await memory.find(ann, 'kept', { filters: own, top_k: 100 });
    expect(texts.toSorted()).toEqual(found.map((name) => `kept ${name}`).toSorted());
  });
});
