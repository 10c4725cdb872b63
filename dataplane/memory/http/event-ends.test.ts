import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

type Json = Readonly<Record<string, unknown>>;

let users = 0;
const someone = () => {
  users += 1;
  return { user: `ended-${users}` };
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('the ends of adds of memories'), () => {
  let fault: 'unavailable' | 'denied' | 'refused' | 'invalid' | undefined;
  let memory: OpenedMemory;
  beforeAll(async () => {
    const models = hashedWords(() => {
      if (fault !== undefined) throw new ModelsError(fault);
    });
    memory = await openMemory({ overrides: { models } });
  });
  beforeEach(() => {
    fault = undefined;
  });
  afterAll(() => memory?.[Symbol.asyncDispose]());

  const body = (content: string) => ({ agent_id: 'tutor', infer: false, messages: [{ role: 'user', content }] });
  const submit = async (caller: { user: string }, content: string) => {
    const { status, json } = await memory.call(caller, 'POST', '/v1/memories', body(content));
    expect(status).toBe(202);
    return json['event_id'] as string;
  };
  const event = async (caller: { user: string }, id: string) =>
    (await memory.call(caller, 'GET', `/v1/events/${id}`)).json;
  const ended = (caller: { user: string }, id: string) =>
    until('the event has ended', async () => {
      const shown = await event(caller, id);
      return shown['status'] === 'PENDING' ? undefined : shown;
    });
  type Row = { readonly messages: unknown; readonly deliveries: number; readonly unavailable_since: Date | null };
  const rowOf = async (id: string): Promise<Row> => {
    const [row] = await memory.database.database.sql<Row[]>`
      select messages, deliveries, unavailable_since from memory.events where event_id = ${id}`;
    return row as Row;
  };
  /** Ends the pause before the next attempt. */
  const makeDue = (id: string) =>
    memory.database.database.sql`update memory.events set due_at = clock_timestamp() where event_id = ${id}`;
  const released = (id: string) =>
    until('the attempt was released', async () => (await rowOf(id)).unavailable_since !== null);
  const counted = async (series: string, { adminUrl } = memory): Promise<number> => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const labels = series.slice(series.indexOf(' ') + 1);
    const name = series.slice(0, series.indexOf(' '));
    const line = text.split('\n').find((one) => one.startsWith(`${name}{`) && one.includes(labels));
    return Number(line?.split(' ').at(-1) ?? Number.NaN);
  };
  const exhausted = () => counted('portcullis_memory_event_attempts_total end="exhausted"');
  const modelFailures = async (of = memory) =>
    (await counted('portcullis_memory_dependency_failures_total dependency="models"', of)) || 0;

  test('an add of remarks that name a new value of nothing known needs no model', async () => {
    const user = someone();
    fault = 'unavailable';
    const messages = [{ role: 'user', content: 'The limit is up to 5 files on Friday now.' }];
    const { status, json } = await memory.call(user, 'POST', '/v1/memories', { agent_id: 'tutor', messages });
    expect(status).toBe(202);
    expect(await ended(user, json['event_id'] as string)).toMatchObject({ status: 'SUCCEEDED', decisions: [] });
    expect((await rowOf(json['event_id'] as string)).unavailable_since).toBeNull();
  });

  test.each([
    ['denied', 'the guardrail of the model gateway denied the text'],
    ['refused', 'the model gateway or the model does not accept the text'],
  ] as const)(
    'an add whose text is %s is FAILED at its first attempt, and its text is stored nowhere',
    async (code, error) => {
      const user = someone();
      fault = code;
      const before = await exhausted();
      const id = await submit(user, 'a text of nobody else');
      expect(await ended(user, id)).toMatchObject({
        status: 'FAILED',
        error,
        attempts: 1,
        memory_ids: [],
        decisions: [],
      });
      expect((await rowOf(id)).messages).toBeNull();
      expect(await memory.all(user)).toEqual([]);
      expect(await exhausted()).toBe(before);
      fault = undefined;
      await memory.add(user, body('the next add'));
      expect(await memory.all(user)).toEqual(['the next add']);
    },
  );

  test('an add waits as PENDING while the embedder is unavailable, and later adds of the user wait for it', async () => {
    const user = someone();
    fault = 'unavailable';
    const failures = await modelFailures();
    const first = await submit(user, 'first');
    const second = await submit(user, 'second');
    await released(first);
    expect(await event(user, first)).toMatchObject({ status: 'PENDING', memory_ids: [], decisions: [] });
    expect(await event(user, second)).toMatchObject({ status: 'PENDING', attempts: 0 });
    // The time without an answer counts no claim.
    expect((await rowOf(first)).deliveries).toBe(0);
    expect(await modelFailures()).toBeGreaterThan(failures);
    fault = undefined;
    await makeDue(first);
    expect(await ended(user, second)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(user)).toEqual(['second', 'first']);
  });

  test.each([
    ['23 hours and 59 minutes', 'SUCCEEDED'],
    ['24 hours and 1 minute', 'FAILED'],
  ])('an add that waited for the embedder for %s ends as %s', async (age, status) => {
    const user = someone();
    fault = 'unavailable';
    const before = await exhausted();
    const id = await submit(user, 'waits');
    await released(id);
    const attempts = (await event(user, id))['attempts'] as number;
    await memory.database.database.sql`
      update memory.events set unavailable_since = clock_timestamp() - ${age.replace(' and', '')}::interval,
        due_at = clock_timestamp() where event_id = ${id}`;
    await until('another attempt has ended', async () => {
      const { attempts: now, status: shown, ...rest } = await event(user, id);
      return (now as number) > attempts && (shown !== 'PENDING' || rest['error'] !== undefined);
    });
    fault = undefined;
    await until('the event has ended', async () => {
      if (status === 'SUCCEEDED') await makeDue(id);
      return (await event(user, id))['status'] !== 'PENDING';
    });
    const shown = await event(user, id);
    expect(shown['status']).toBe(status);
    expect((await rowOf(id)).messages).toBeNull();
    if (status === 'FAILED') expect(shown['error']).toBe('the model gateway was not available');
    await until('the end is counted', async () => (await exhausted()) === before + (status === 'FAILED' ? 1 : 0));
  });

  test('an add is FAILED after the fifth claim without a valid answer of the model', async () => {
    const user = someone();
    fault = 'invalid';
    const before = await exhausted();
    const id = await submit(user, 'unreadable');
    const shown = await until('the event has ended', async () => {
      await memory.database.database.sql`
        update memory.events set due_at = clock_timestamp()
        where event_id = ${id} and unavailable_since is not null and due_at > clock_timestamp() + interval '1 second'
          and due_at < clock_timestamp() + interval '6 seconds'`;
      const now = await event(user, id);
      return now['status'] === 'PENDING' ? undefined : now;
    });
    expect(shown).toMatchObject({ status: 'FAILED', error: 'the model gave no valid answer', attempts: 5 });
    await until('the end is counted', async () => (await exhausted()) === before + 1);
  });

  test.each([
    [4, 'SUCCEEDED'],
    [5, 'FAILED'],
  ])('an add whose workers died %i times ends as %s', async (deaths, status) => {
    const user = someone();
    await memory.add(user, body('before'));
    const before = await exhausted();
    const [row] = await memory.database.database.sql<{ event_id: string }[]>`
      insert into memory.events (event_id, person, tenant, agent_id, infer, messages, digest, trace_id, status, deliveries, attempt)
      select gen_random_uuid(), person, tenant, 'tutor', false, ${JSON.stringify(body('survives').messages)}::text::jsonb, '', '',
        'RUNNING', ${deaths}::int, ${deaths}::int
      from memory.people where user_key like ${`%"${user.user}"]`} returning event_id`;
    const id = row?.event_id ?? '';
    const shown = await ended(user, id);
    expect(shown['status']).toBe(status);
    expect(await memory.all(user)).toEqual(status === 'SUCCEEDED' ? ['survives', 'before'] : ['before']);
    expect((await rowOf(id)).messages).toBeNull();
    if (status === 'FAILED') expect(shown['error']).toBe('the worker ended 5 times without a result');
    await until('the end is counted', async () => (await exhausted()) === before + (status === 'FAILED' ? 1 : 0));
  });

  test('a claimed event is shown as PENDING', async () => {
    const user = someone();
    await memory.add(user, body('before'));
    await memory.database.database.sql`
      update memory.events set status = 'RUNNING', due_at = clock_timestamp() + interval '1 hour'
      where person = (select person from memory.people where user_key like ${`%"${user.user}"]`})`;
    const [row] = await memory.database.database.sql<{ event_id: string }[]>`
      select event_id from memory.events where status = 'RUNNING' and due_at > clock_timestamp() + interval '50 minutes'`;
    expect((await event(user, row?.event_id ?? ''))['status']).toBe('PENDING');
  });

  test('a text that a person changed while the embedder is unavailable is found by its words immediately and by its meaning later', async () => {
    const user = someone();
    const [id] = (await memory.add(user, body('plays the flute')))['memory_ids'] as readonly string[];
    const vectors = () =>
      memory.database.database.sql<{ has: boolean }[]>`
        select vector is not null as has from memory.memories where memory_id = ${id ?? ''}`;
    fault = 'unavailable';
    const failures = await modelFailures();
    const changed = await memory.call(user, 'PUT', `/v1/memories/${id}`, { text: 'plays the oboe' });
    expect(changed).toMatchObject({ status: 200, json: { memory: 'plays the oboe' } });
    expect(await memory.find(user, 'oboe', { mode: 'bm25' })).toEqual(['plays the oboe']);
    expect(await memory.find(user, 'flute', { mode: 'bm25' })).toEqual([]);
    expect(await vectors()).toEqual([{ has: false }]);
    expect(await modelFailures()).toBeGreaterThan(failures);
    fault = undefined;
    await until('the memory has a vector', async () => (await vectors())[0]?.has === true);
    const { json } = await memory.call(user, 'POST', '/v1/memories/search', { query: 'oboe', mode: 'semantic' });
    const [found] = json['results'] as readonly Json[];
    expect(found).toMatchObject({ memory: 'plays the oboe', score_details: { semantic: expect.any(Number) } });
  });

  test('a denied change of a text is refused and changes nothing', async () => {
    const user = someone();
    const [id] = (await memory.add(user, body('plays the flute')))['memory_ids'] as readonly string[];
    fault = 'denied';
    const { status } = await memory.call(user, 'PUT', `/v1/memories/${id}`, { text: 'denied words' });
    fault = undefined;
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(await memory.all(user)).toEqual(['plays the flute']);
    const history = (await memory.call(user, 'GET', `/v1/memories/${id}/history`)).json as unknown as readonly Json[];
    expect(history).toHaveLength(1);
  });

  test('an expired memory gets a DELETE in its history, and no live row contains its text', async () => {
    const user = someone();
    const added = await memory.add(user, { ...body('parks on level 3'), expires_at: '2020-01-01T00:00:00Z' });
    const [id] = added['memory_ids'] as readonly string[];
    const { sql } = memory.database.database;
    await until('the memory is deleted', async () => {
      const [row] = await sql<{ deleted_at: Date | null }[]>`
        select deleted_at from memory.memories where memory_id = ${id ?? ''}`;
      return row === undefined || row.deleted_at !== null;
    });
    const entries = await sql<{ event: string; old_text: string | null }[]>`
      select event, old_text from memory.history where memory_id = ${id ?? ''} order by entry`;
    expect(entries.map((entry) => entry.event)).toEqual(['ADD', 'DELETE']);
  });

  test('an attempt whose end cannot be written immediately is recorded later and does not count as the death of a worker', async () => {
    const { sql } = memory.database.database;
    await sql.unsafe(`
      create sequence public.ends;
      create function public.refuse_end() returns trigger language plpgsql as $$ begin
        if nextval('public.ends') <= 2 then raise exception 'no room' using errcode = '53000'; end if;
        return new;
      end $$;
      create trigger refuse_end before update on memory.events for each row
        when (old.unavailable_since is null and new.unavailable_since is not null) execute function public.refuse_end();`);
    const caller = someone();
    fault = 'unavailable';
    const id = await submit(caller, 'I like tea.');
    await released(id);
    expect((await rowOf(id)).deliveries).toBe(0);
    fault = undefined;
    await makeDue(id);
    expect(await ended(caller, id)).toMatchObject({ status: 'SUCCEEDED', attempts: 2 });
    await sql.unsafe('drop trigger refuse_end on memory.events');
  });

  test('while no end can be recorded the failure is counted, and the attempt ends with its lease', async () => {
    const models = hashedWords(() => {
      throw new ModelsError('unavailable');
    });
    await using own = await openMemory({ overrides: { models, times: { leaseMs: 2_000 } } });
    const { sql } = own.database.database;
    await sql.unsafe(`
      create function public.refuse_end() returns trigger language plpgsql as $$ begin
        raise exception 'no room' using errcode = '53000';
      end $$;
      create trigger refuse_end before update on memory.events for each row
        when (old.unavailable_since is null and new.unavailable_since is not null) execute function public.refuse_end();`);
    expect((await own.call(someone(), 'POST', '/v1/memories', body('I like tea.'))).status).toBe(202);
    await until('the failure is counted', async () => (await modelFailures(own)) > 0);
    // The renewals of the lease succeed all the time.
    await until('the event is claimed again', async () => {
      const [row] = await sql<{ attempt: number }[]>`select attempt from memory.events`;
      return (row?.attempt ?? 0) > 1;
    });
  });
});
