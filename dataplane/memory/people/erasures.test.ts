import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { auditEntrySchema } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import { until } from '#kit/testing/until';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import { openPackedIndex } from '#search/adapters/packed/packed-index';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { memorySource } from '../search/memory-source.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { forgetErased } from './forget-erased.ts';

const page = readFileSync(new URL('../../../docs/remember-people.md', import.meta.url), 'utf8');
const auditPage = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');

describe.skipIf(missingPostgres !== undefined)(onPostgres('erasures'), () => {
  const parts = new AsyncDisposableStack();
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = parts.use(await openMemory());
  });
  afterAll(() => parts.disposeAsync());

  const erase = async (user: string): Promise<void> => {
    expect((await memory.call({ user }, 'POST', '/v1/erasures', { user_id: user })).status).toBe(200);
  };
  const personOf = async (user: string): Promise<string> => {
    const [row] = await memory.database.database.sql<{ person: string }[]>`
      select person from memory.people where user_key like ${`%"${user}"]`}`;
    return row?.person ?? '';
  };

  test('an erasure is announced to the other replicas, each of which drops the cached memories of the erased user only', async () => {
    const { database } = memory.database;
    await using index = openPackedIndex({ source: memorySource(database), mostBytes: 1_048_576 });
    await using queue = createPostgresQueue(database);
    const people: string[] = [];
    for (const user of ['gone', 'kept']) {
      await memory.say({ user }, 'I like tea.');
      people.push(await personOf(user));
      await index.candidates({
        ...{ partition: `/${people.at(-1)}`, reflects: 0n, labels: 'every', legs: [], window: 1 },
      });
    }
    expect(index.loaded().toSorted()).toEqual(people.map((person) => `/${person}`).toSorted());
    const hinted = Promise.withResolvers<void>();
    await using _subscription = await queue.subscribe('memory_erasures', hinted.resolve);
    await erase('gone');
    await hinted.promise;
    await forgetErased(database, index);
    expect(index.loaded()).toEqual([`/${people[1]}`]);
  });

  test('of two concurrent erasures, one removes everything and the other finds nothing', async () => {
    const user = { user: 'twice' };
    await memory.say(user, 'I like tea.');
    const answers = await Promise.all(
      [1, 2].map(() => memory.call(user, 'POST', '/v1/erasures', { user_id: user.user })),
    );
    const counts = answers.map(({ status, json }) => [
      status,
      json['memories'],
      json['history_entries'],
      json['events'],
    ]);
    expect(counts.toSorted()).toEqual([
      [200, 0, 0, 0],
      [200, 1, 1, 1],
    ]);
    expect(new Set(answers.map(({ json }) => json['confirmation_id'])).size).toBe(2);
  });

  test('an erasure and a deletion of a scope each have an audit entry without the name of the user', async () => {
    const { database } = memory.database;
    const user = { user: 'who-was-here' };
    await memory.say(user, 'I like tea.');
    const deleted = await memory.call(user, 'DELETE', '/v1/memories?agent_id=tutor');
    const erased = await memory.call(user, 'POST', '/v1/erasures', { user_id: user.user });
    const ids = [deleted, erased].map(({ json }) => String(json['confirmation_id']));
    const log = await openPostgresAudit(database, 'memory');
    const { entries } = await log.read({ filter: { chain: 'memory' }, order: 'oldest', limit: 500 });
    const own = ids.map((id) => entries.filter(({ content }) => content.target?.id === id));
    const [record] = await database.sql<{ person_digest: string }[]>`
      select person_digest from memory.erasures where confirmation_id = ${ids[1] ?? ''}`;
    const expected = {
      outcome: 'accepted',
      author: { kind: 'claimed', name: record?.person_digest },
      client: 'loopback',
    };
    expect(own.map((found) => found.map(({ content }) => content))).toMatchObject([
      [{ ...expected, action: 'memory.delete' }],
      [{ ...expected, action: 'memory.erase' }],
    ]);
    expect(JSON.stringify(entries)).not.toContain(user.user);
    const verifier = createAuditVerifier(await log.chains());
    for (const entry of entries) verifier.add(entry);
    expect(verifier.end()).toEqual([]);
    const command = /```sql\n(select json_build_object[^`]+)```/.exec(auditPage)?.[1] ?? '';
    const rows = await database.sql.unsafe<{ json_build_object: unknown }[]>(command);
    expect(rows.map((row) => auditEntrySchema.parse(row.json_build_object))).toEqual(entries);
  });

  test('an erasure ends while a worker packs the memories of the same user', async () => {
    const user = { user: 'packed' };
    await memory.say(user, 'I like tea.');
    const person = await personOf('packed');
    const { sql } = memory.database.database;
    const rows = () => sql`select 1 from memory.packing where person = ${person}`;
    await sql.begin(async (packing) => {
      // Packing locks its row first and the person last.
      await packing`insert into memory.packing (person) values (${person})`;
      await erase('packed');
      const left = await packing`update memory.people set packed_through = 0 where person = ${person} returning 1`;
      expect(left).toHaveLength(0);
    });
    await until('the packing of the erased user is over', async () => (await rows()).length === 0);
  });

  test('a search whose user is erased while it runs finds nothing', async () => {
    const user = { user: 'searching' };
    const words = hashedWords();
    await using other = await openMemory({
      database: memory.database,
      overrides: {
        models: {
          ...words,
          async embed(profile, kind, texts, call) {
            if (kind === 'query') await erase(user.user);
            return words.embed(profile, kind, texts, call);
          },
        },
      },
    });
    await memory.say(user, 'I like tea.');
    expect(await other.find(user, 'tea')).toEqual([]);
  });

  test('the documented commands repeat the erasures of users after an older backup was restored', async () => {
    const { sql } = memory.database.database;
    const users = ['ann "the first"', 'bob', 'Йоко'];
    for (const user of users) await memory.say({ user: encodeURIComponent(user) }, 'I live in Rome.');
    const [bob] = [await personOf('bob')];
    await erase('bob');
    const [erased] = await sql<{ confirmation_id: string }[]>`
      delete from memory.erasures where erased_at = (select max(erased_at) from memory.erasures) returning *`;
    // A restored backup contains the person, and no record of the erasure.
    await memory.say({ user: 'bob' }, 'I live in Rome.');
    expect(await personOf('bob')).not.toBe(bob);
    const before = await sql<{ person: string }[]>`select person from memory.people`;
    const commands = /```sql\n(create temporary table kept[^`]+)```/.exec(page)?.[1] ?? '';
    const [create = '', repeat = ''] = commands.split(/\\copy .*\n/);
    const restored = await personOf('bob');
    await sql.begin(async (transaction) => {
      await transaction.unsafe(create);
      await transaction`insert into kept select * from json_populate_record(null::memory.erasures, ${JSON.stringify(erased)}::text::json)`;
      await transaction.unsafe(repeat);
      await transaction.unsafe('drop table kept');
    });
    const after = await sql<{ person: string }[]>`select person from memory.people`;
    expect(after.map(({ person }) => person).toSorted()).toEqual(
      before
        .map(({ person }) => person)
        .filter((person) => person !== restored)
        .toSorted(),
    );
    const [recorded] = await sql`
      select 1 from memory.erasures where confirmation_id = ${erased?.confirmation_id ?? null}`;
    expect(recorded).toBeDefined();
  });
});
