import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { connectSql, type Database, SqlUnavailableError } from './connect.ts';
import { missingPostgres, onPostgres, openTestDatabase } from './testing/test-database.ts';

/** Handlers that record payloads and gaps in their order. */
function recorder() {
  const seen: string[] = [];
  return { seen, handlers: { onNotify: (payload: string) => seen.push(payload), onGap: () => seen.push('gap') } };
}

const notify = ({ sql }: Database, channel: string, payload: string) => sql`select pg_notify(${channel}, ${payload})`;

/** Process ids of the sessions that listen. */
async function listeners({ sql }: Database): Promise<readonly number[]> {
  const rows = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'listening' and datname = current_database()`;
  return rows.map(({ pid }) => pid);
}

test('listening without a server fails with SqlUnavailableError, and the listener can be disposed', async () => {
  await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
  await using listener = database.listener();
  await expect(listener.listen('a', recorder().handlers)).rejects.toBeInstanceOf(SqlUnavailableError);
});

test.each(['', 'A', 'a-b', 'a"b', '1a', 'a'.repeat(64)])('the channel name "%s" is refused', async (channel) => {
  await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
  await using listener = database.listener();
  await expect(listener.listen(channel, recorder().handlers)).rejects.toThrow('cannot be the name of a channel');
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('notifications'), () => {
  test('every notification after the confirmation arrives at the handlers of its channel, in order', async () => {
    await using opened = await openTestDatabase();
    await using listener = opened.database.listener();
    const [one, same, other] = [recorder(), recorder(), recorder()];
    await listener.listen('one', one.handlers);
    const ending = await listener.listen('one', same.handlers);
    await listener.listen('a'.repeat(63), other.handlers);
    await notify(opened.database, 'one', 'first');
    await until('the first one arrives', () => same.seen.length === 1);
    await ending[Symbol.asyncDispose]();
    await notify(opened.database, 'one', 'second');
    await notify(opened.database, 'a'.repeat(63), 'third');
    await until('the last one arrives', () => other.seen.length === 1);
    expect([one.seen, same.seen, other.seen]).toEqual([['first', 'second'], ['first'], ['third']]);
  });

  test('a channel without handlers is no longer listened to, and can be listened to again', async () => {
    await using opened = await openTestDatabase();
    await using listener = opened.database.listener();
    const [before, after] = [recorder(), recorder()];
    await (await listener.listen('one', before.handlers))[Symbol.asyncDispose]();
    await listener.listen('one', after.handlers);
    await notify(opened.database, 'one', 'payload');
    await until('it arrives', () => after.seen.length === 1);
    expect(before.seen).toEqual([]);
  });

  test('a lost connection is opened again, and every channel reports the gap once it is listened to again', async () => {
    await using opened = await openTestDatabase();
    await using listening = opened.connect({ applicationName: 'listening' });
    await using listener = listening.listener();
    const [one, two] = [recorder(), recorder()];
    await listener.listen('one', one.handlers);
    await listener.listen('two', two.handlers);
    for (let round = 1; round <= 3; round += 1) {
      await opened.database.sql`
        select pg_terminate_backend(pid), pg_notify('two', 'lost') from pg_stat_activity
        where application_name = 'listening' and datname = current_database()`;
      await until('both learn of the gap', () =>
        [one, two].every(({ seen }) => seen.filter((what) => what === 'gap').length === round),
      );
      await notify(opened.database, 'one', `after ${round}`);
      await until('it arrives', () => one.seen.at(-1) === `after ${round}`);
    }
    expect(one.seen).toEqual(['gap', 'after 1', 'gap', 'after 2', 'gap', 'after 3']);
    expect(two.seen).toEqual(['gap', 'gap', 'gap']);
  });

  test('a connection that is open and does not answer is replaced, and its channel reports the gap', async () => {
    await using opened = await openTestDatabase();
    await using listening = opened.connect({ applicationName: 'listening', statementTimeoutMs: 100 });
    await using listener = listening.listener({ checkEveryMs: 50 });
    const one = recorder();
    await listener.listen('one', one.handlers);
    const [pid = 0] = await listeners(opened.database);
    process.kill(pid, 'SIGSTOP');
    try {
      await until('the gap is noticed', () => one.seen.includes('gap'));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await notify(opened.database, 'one', 'after');
    await until('it arrives', () => one.seen.at(-1) === 'after');
  });

  test('a disposed listener has no connection and listens to nothing', async () => {
    await using opened = await openTestDatabase();
    await using listening = opened.connect({ applicationName: 'listening' });
    const listener = listening.listener();
    const one = recorder();
    await listener.listen('one', one.handlers);
    expect(await listeners(opened.database)).toHaveLength(1);
    await listener[Symbol.asyncDispose]();
    await until('the session ends', async () => (await listeners(opened.database)).length === 0);
    await notify(opened.database, 'one', 'payload');
    await expect(listener.listen('one', one.handlers)).rejects.toMatchObject({ reason: 'ENDED' });
    expect(one.seen).toEqual([]);
  });
});
