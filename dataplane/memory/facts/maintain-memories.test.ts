import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };

/** Stores texts without vectors, as an installation without a profile does. */
async function store(database: TestDatabase, texts: readonly string[]): Promise<void> {
  await using memory = await openMemory({ database, config: { embeddingProfile: undefined } });
  for (let from = 0; from < texts.length; from += 100) {
    const messages = texts.slice(from, from + 100).map((content) => ({ role: 'user', content }));
    await memory.add(ann, { agent_id: 'a', infer: false, messages });
  }
}

async function metric(memory: OpenedMemory, line: string): Promise<number> {
  const text = await (await fetch(`${memory.adminUrl}/metrics`)).text();
  const found = text.split('\n').find((one) => one.startsWith(line));
  return Number(found?.split(' ').at(-1) ?? Number.NaN);
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('maintenance of memories'), () => {
  test('without an embedding profile a search by meaning is 400 and a hybrid search uses words', async () => {
    await using memory = await openMemory({ config: { embeddingProfile: undefined } });
    await memory.add(ann, { agent_id: 'a', infer: false, messages: [{ role: 'user', content: 'tea is good' }] });
    const search = (mode: string) => memory.call(ann, 'POST', '/v1/memories/search', { query: 'tea', mode });
    expect(await search('semantic')).toMatchObject({ status: 400, json: { code: 'invalid_request' } });
    for (const mode of ['hybrid', 'bm25']) {
      expect(await search(mode)).toMatchObject({
        status: 200,
        json: { results: [{ memory: 'tea is good', score_details: { semantic: null } }] },
      });
    }
  });

  test('texts for which the embedder returns no valid vector are delayed and do not delay other texts', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    const bad = Array.from({ length: 130 }, (_, no) => `broken text ${no}`);
    await store(database, [...bad, 'tea is good']);
    const models = hashedWords((texts) => {
      if (texts.some((text) => text.startsWith('broken'))) throw new ModelsError('invalid', 'the vector is invalid');
    });
    await using memory = await openMemory({ database, overrides: { models, times: { pollMs: 100, maintainMs: 50 } } });
    const delays = () => sql<{ failures: number; seconds: number; count: number }[]>`
      select embed_failures as failures, count(*)::int as count,
        round(extract(epoch from max(embed_after) - clock_timestamp()) / 60)::int * 60 as seconds
      from memory.memories where embed_failures > 0 group by 1`;
    const allDelayed = (failures: number, seconds: number) => async () => {
      const found = await delays();
      return found.length === 1 &&
        found[0]?.failures === failures &&
        found[0].count === 130 &&
        found[0].seconds === seconds
        ? true
        : undefined;
    };
    await until('every broken text is delayed for a minute', allDelayed(1, 60));
    await until('the other text has a vector', async () => {
      const [found] = await memory.find(ann, 'tea', { mode: 'semantic' });
      return found === 'tea is good' ? true : undefined;
    });
    expect(await metric(memory, 'portcullis_memory_vectors_delayed')).toBe(130);
    await sql`update memory.memories set embed_after = '-infinity' where embed_failures > 0`;
    await until('every broken text is delayed for two minutes', allDelayed(2, 120));
    await sql`update memory.memories set embed_failures = 29, embed_after = '-infinity' where embed_failures > 0`;
    await until('every broken text is delayed for a day', allDelayed(30, 86_400));
    const { json } = await memory.call(ann, 'GET', '/v1/memories?user_id=ann&page_size=200');
    const broken = (json['results'] as readonly { id: string; memory: string }[]).find(
      ({ memory: text }) => text === bad[7],
    );
    await memory.call(ann, 'PUT', `/v1/memories/${broken?.id}`, { text: 'coffee is good' });
    expect(await metric(memory, 'portcullis_memory_vectors_delayed')).toBe(129);
    expect((await memory.find(ann, 'coffee', { mode: 'semantic' }))[0]).toBe('coffee is good');
  });

  test('a text at which the embedder is unavailable does not delay other texts', async () => {
    await using database = await openTestDatabase();
    await store(database, ['slow text', 'tea is good']);
    const models = hashedWords((texts) => {
      if (texts.includes('slow text')) throw new ModelsError('unavailable', 'the embedder does not answer');
    });
    await using memory = await openMemory({ database, overrides: { models, times: { pollMs: 100, maintainMs: 50 } } });
    await until('the other text has a vector', async () => {
      const [found] = await memory.find(ann, 'tea', { mode: 'semantic' });
      return found === 'tea is good' ? true : undefined;
    });
    const failures = 'portcullis_memory_maintenance_failures_total{part="missing_vectors"';
    await until('the failure is counted', async () => (await metric(memory, failures)) > 0);
    expect(await metric(memory, 'portcullis_memory_without_vector')).toBe(0);
    const { sql } = database.database;
    await sql`update memory.memories set updated_at = clock_timestamp() - interval '1 hour' where vector is null`;
    expect(await metric(memory, 'portcullis_memory_without_vector')).toBe(1);
  });

  test('memories get vectors of another profile when the installation changes it', async () => {
    await using database = await openTestDatabase();
    await store(database, ['tea is good']);
    const { sql } = database.database;
    await sql`update memory.memories set profile_id = 'zeta', vector = '\\x00000000'`;
    await using _memory = await openMemory({ database });
    await until('the memory has a vector of the profile', async () => {
      const [row] =
        await sql`select 1 from memory.memories where profile_id like 'words:%' and octet_length(vector) = 256`;
      return row === undefined ? undefined : true;
    });
  });

  test('a part of maintenance that fails is counted and leaves the other parts unaffected', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    await using memory = await openMemory({ database });
    await sql.unsafe(`create function memory.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused'; end $$`);
    await sql.unsafe(
      'create trigger refuse before delete on memory.sessions for each row execute function memory.refuse()',
    );
    await memory.call(ann, 'POST', '/v1/sessions/s/state', { state: {}, ttl_seconds: 60 });
    await memory.say(ann, 'I like tea.');
    await memory.say(ann, 'I like milk.');
    await sql`update memory.sessions set expires_at = clock_timestamp() - interval '1 second'`;
    await sql`
      update memory.events set updated_at = case when seq = (select min(seq) from memory.events)
        then clock_timestamp() - interval '31 days' else clock_timestamp() - interval '29 days' end`;
    await sql`update memory.memories set expires_at = clock_timestamp() where text = 'I like tea'`;
    await until('the expired memory is deleted, with an entry in its history', async () => {
      const [row] = await sql`
        select 1 from memory.history h join memory.memories m using (memory_id)
        where h.event = 'DELETE' and h.old_text = 'I like tea' and m.deleted_at is not null`;
      return row === undefined ? undefined : true;
    });
    await until('the event that ended 31 days ago is removed, and the one of 29 days ago is not', async () => {
      const rows = await sql`select 1 from memory.events`;
      return rows.length === 1 ? true : undefined;
    });
    const failures = 'portcullis_memory_maintenance_failures_total{part="expired_sessions"';
    await until('the failure is counted', async () => ((await metric(memory, failures)) > 0 ? true : undefined));
    expect(await sql`select 1 from memory.sessions`).toHaveLength(1);
    await sql.unsafe('drop trigger refuse on memory.sessions');
    await until('the expired state is removed', async () => {
      const rows = await sql`select 1 from memory.sessions`;
      return rows.length === 0 ? true : undefined;
    });
  });

  test('an expired memory that cannot be deleted is counted and tried again, and those of other persons are deleted', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    // There are more expired memories than one statement reads, and all of them expired before the memory of the other
    // person.
    await store(
      database,
      Array.from({ length: 101 }, (_, no) => `text ${no}`),
    );
    {
      await using memory = await openMemory({ database });
      await memory.say({ user: 'bob' }, 'I like tea.');
    }
    const [first] = await sql<{ person: string }[]>`select person from memory.memories where text = 'text 0'`;
    const person = first?.person ?? '';
    await sql`
      update memory.memories set expires_at = clock_timestamp()
        - case when person = ${person} then interval '1 hour' else interval '1 minute' end`;
    await sql.unsafe(`create function memory.refuse() returns trigger language plpgsql as
      $$ begin
        if new.person = ${person} and new.deleted_at is not null then raise exception 'refused'; end if;
        return new;
      end $$`);
    await sql.unsafe(
      'create trigger refuse before update on memory.memories for each row execute function memory.refuse()',
    );
    await using memory = await openMemory({ database });
    await until('the expired memory of the other person is deleted, with an entry in its history', async () => {
      const rows = await sql`select 1 from memory.history where event = 'DELETE' and old_text = 'I like tea'`;
      return rows.length > 0 ? true : undefined;
    });
    const failures = 'portcullis_memory_maintenance_failures_total{part="expired_memories"';
    await until('the failure is counted', async () => (await metric(memory, failures)) > 0);
    const left = async () =>
      (await sql`select 1 from memory.memories where person = ${person} and deleted_at is null`).length;
    expect(await left()).toBe(101);
    await sql.unsafe('drop trigger refuse on memory.memories');
    await until('the memories of the first person are deleted', async () => ((await left()) === 0 ? true : undefined));
  });

  test('a person whose packing fails is delayed and counted, and waiting persons are packed', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    {
      await using memory = await openMemory({ database });
      await memory.say(ann, 'I like tea.');
      await memory.say({ user: 'bob' }, 'I like tea.');
    }
    const persons = await sql<{ person: string }[]>`select person from memory.people order by person`;
    const [first, second] = persons.map(({ person }) => person);
    await sql.unsafe(`create function memory.refuse() returns trigger language plpgsql as
      $$ begin if new.person = ${first} then raise exception 'refused'; end if; return new; end $$`);
    await sql.unsafe(
      'create trigger refuse before insert on memory.segments for each row execute function memory.refuse()',
    );
    await sql`insert into memory.packing select person from memory.people`;
    await using memory = await openMemory({ database });
    const packed = (person: string | undefined) => async () => {
      const rows = await sql`select 1 from memory.segments where person = ${person ?? ''}`;
      return rows.length > 0 ? true : undefined;
    };
    await until('the second person is packed', packed(second));
    expect(await sql`select person, retry_at > clock_timestamp() as later from memory.packing`).toEqual([
      { person: first, later: true },
    ]);
    const failures = 'portcullis_memory_maintenance_failures_total{part="packing"';
    await until('the failure is counted', async () => (await metric(memory, failures)) > 0);
    await sql.unsafe('drop trigger refuse on memory.segments');
    await sql`update memory.packing set retry_at = clock_timestamp()`;
    await until('the first person is packed', packed(first));
    expect(await sql`select 1 from memory.packing`).toEqual([]);
  });
});
