import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { awaitRelations } from '#relations/adapters/await-relations';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { openTestDatabase } from '#sql/testing/test-database';
import { rightsOnAgents } from './rights-on-agents.ts';

const object = 'agent:weather';
const invoke = (name: string) => ({ object, relation: 'invoke', subject: `user:https%3A//people.example|${name}` });
const named = (count: number) => Array.from({ length: count }, (_, at) => invoke(`person-${at}`));

/** Opens the rights in a real database, for a process that is the leader while `isLeader` returns true. */
async function openRights(isLeader: () => boolean) {
  const opened = await openTestDatabase();
  const events: string[] = [];
  const lines: object[] = [];
  const note = (event: string, fields: object = {}): void => {
    events.push(event);
    lines.push({ event, ...fields });
  };
  const access = {
    databaseUrl: opened.url,
    databasePasswordFile: opened.passwordFile,
    relations: { kind: 'postgres' },
    openFgaTokenFile: undefined,
  } as const;
  const logger = { info: note, warn: note, error: note };
  const open = () => rightsOnAgents(awaitRelations(access, { applicationName: 'rights', logger }), isLeader);
  return { opened, events, lines, open, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

test('an operator that is no longer the leader revokes and grants no right', async () => {
  let isLeader = true;
  await using place = await openRights(() => isLeader);
  await using rights = place.open();
  await until('the store is open', () => place.events.includes('relation_store_available'));
  await rights.settle(object, [invoke('ann')]);
  const relations = await openPostgresRelations(place.opened.database);
  isLeader = false;
  await expect(rights.settle(object, [invoke('ben')])).rejects.toMatchObject({ code: 'not_leader' });
  expect(await relations.tuplesOf(object)).toEqual([invoke('ann')]);
  expect(await rights.settle(object, [invoke('ann')])).toBe('consistent');
  isLeader = true;
  expect(await rights.settle(object, [invoke('ben')])).toBe('consistent');
  expect(await relations.tuplesOf(object)).toEqual([invoke('ben')]);
});

test('an operator that loses its leadership between two changes of rights makes no further change', async () => {
  let left = 0;
  await using place = await openRights(() => {
    left -= 1;
    return left >= 0;
  });
  await using rights = place.open();
  await until('the store is open', () => place.events.includes('relation_store_available'));
  const relations = await openPostgresRelations(place.opened.database);
  left = 1;
  await rights.settle(object, [invoke('ann')]);
  left = 1;
  await expect(rights.settle(object, [invoke('ben')])).rejects.toMatchObject({ code: 'not_leader' });
  expect(await relations.tuplesOf(object)).toEqual([]);
  left = 1;
  await expect(rights.settle(object, named(101))).rejects.toMatchObject({ code: 'not_leader' });
  expect(await relations.tuplesOf(object)).toHaveLength(100);
});

test('rights whose tables are those of a newer release are refused by name, and settled once they fit', async () => {
  await using place = await openRights(() => true);
  await openPostgresRelations(place.opened.database);
  const { sql } = place.opened.database;
  await sql`insert into relations.migrations (number, name, digest) values (900, '0900-later.sql', 'digest')`;
  await using rights = place.open();
  await until('the store is refused', () => place.events.includes('relation_store_refused'));
  expect(place.lines).toEqual([
    {
      event: 'relation_store_refused',
      fault: 'newer',
      problem: 'schema relations holds 0900-later.sql, which this program does not know: start the newer program',
    },
  ]);
  expect(await rights.settle(object, [invoke('ann')])).toBe('refused');
  await sql`delete from relations.migrations where number = 900`;
  await until('the store is open', () => place.events.includes('relation_store_available'));
  expect(await rights.settle(object, [invoke('ann')])).toBe('consistent');
  expect(place.events).toEqual(['relation_store_refused', 'relation_store_available']);
});
