import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { connectSql, passwordFrom, SqlStatementError, SqlUnavailableError } from './connect.ts';
import { missingPostgres, onPostgres, openTestDatabase, startTestServer, testServer } from './testing/test-database.ts';

const fault = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('connection URLs', () => {
  test.each(['http://127.0.0.1/a', 'postgres://127.0.0.1', 'nonsense'])('the database URL %s is refused', (url) => {
    expect(() => connectSql({ url, applicationName: 'test' })).toThrow('must be postgres://user@host:port/database');
  });

  test('a database URL with a password is refused, and the error does not contain the password', () => {
    const connect = () => connectSql({ url: 'postgres://me:hunter2@127.0.0.1/a', applicationName: 'test' });
    expect(connect).toThrow('holds a password');
    expect(connect).not.toThrow('hunter2');
  });

  test('every statement to a database port without a listener fails with ECONNREFUSED', async () => {
    await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
    for (let round = 0; round < 3; round += 1) {
      const error = await fault(database.sql`select 1`);
      expect(error).toBeInstanceOf(SqlUnavailableError);
      expect(error).toMatchObject({ code: 'sql_unavailable', reason: 'ECONNREFUSED' });
    }
    expect(await fault(database.sql.begin((sql) => sql`select 1`))).toBeInstanceOf(SqlUnavailableError);
  });

  test('a database that accepts a connection and does not respond fails with CONNECT_TIMEOUT', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const database = connectSql({ url: `postgres://me@127.0.0.1:${port}/a`, applicationName: 'test' });
    expect(await fault(database.sql`select 1`)).toMatchObject({ reason: 'CONNECT_TIMEOUT' });
    await database[Symbol.asyncDispose]();
    silent.close();
  });

  test('a missing password file makes the database unavailable', async () => {
    const password = passwordFrom('/nonexistent/password');
    await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test', password });
    expect(await fault(database.sql`select 1`)).toBeInstanceOf(SqlUnavailableError);
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('statements'), () => {
  test('values are sent to the database as parameters, and rows are typed', async () => {
    await using opened = await openTestDatabase();
    const text = `'; drop table x; --`;
    const rows = await opened.database.sql`select ${text}::text as text, ${[1, 2]}::int[] as list, ${true} as yes`;
    expect([...rows]).toEqual([{ text, list: [1, 2], yes: true }]);
  });

  test('an array is sent to the database as a parameter of its element type, text by default', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const odd = ['a', '', '"', '{}', ',', 'NULL', '\\', "'"];
    const [row] =
      await sql`select ${sql.array(odd)} as texts, ${sql.array([1, -2], 23)} as numbers, ${sql.array([])} as none`;
    expect(row).toEqual({ texts: odd, numbers: [1, -2], none: [] });
    expect(() => sql.array([1], 1)).toThrow('no array type is known');
  });

  test('arrays of every type of the services are read and sent with the values that their elements have alone', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const [row] = await sql`
      select array['a', null, 'b,"{}\\'] as texts, array[true, false] as truths, array[1, null]::int4[] as numbers,
             array[9007199254740993]::int8[] as large, array[0.5, 'infinity']::float8[] as floats,
             array['\\x00ff'::bytea] as bytes, array['{"a": [1, "}"]}'::jsonb] as objects, '{}'::text[] as none,
             array['2026-01-02T03:04:05Z'::timestamptz] as times,
             array['0190f8a0-0000-7000-8000-000000000001'::uuid] as ids, array[['a'], ['b']] as nested`;
    const expected = {
      texts: ['a', null, 'b,"{}\\'],
      truths: [true, false],
      numbers: [1, null],
      large: ['9007199254740993'],
      floats: [0.5, Number.POSITIVE_INFINITY],
      bytes: [Buffer.from([0, 255])],
      objects: [{ a: [1, '}'] }],
      none: [],
      times: [new Date('2026-01-02T03:04:05Z')],
      ids: ['0190f8a0-0000-7000-8000-000000000001'],
      nested: [['a'], ['b']],
    };
    expect(row).toEqual(expected);
    const [sent] = await sql`
      select ${sql.array(expected.texts)} as texts, ${sql.array(expected.truths, 16)} as truths,
             ${sql.array(expected.numbers, 23)} as numbers, ${sql.array(expected.large, 20)} as large,
             ${sql.array(expected.floats, 701)} as floats, ${sql.array(expected.bytes, 17)} as bytes,
             ${sql.array(expected.objects as never[], 3802)} as objects, ${sql.array(expected.times, 1184)} as times,
             ${sql.array(expected.ids, 2950)} as ids`;
    const { none: _none, nested: _nested, ...others } = expected;
    expect(sent).toEqual(others);
  });

  test('a connection that is lost right after its start fails its statement and nothing else', async () => {
    const server = await testServer();
    const target = new URL(server.process.url);
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    let lost = 0;
    const proxy = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      client.on('data', (bytes) => upstream.write(bytes)).on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
      upstream.on('data', (bytes) => {
        client.write(bytes);
        // ReadyForQuery of an idle session ends the start.
        if (!bytes.includes(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))) return;
        lost += 1;
        upstream.destroy();
        setImmediate(() => client.resetAndDestroy());
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as { port: number };
    const url = Object.assign(new URL(server.process.url), { port: String(port) });
    try {
      await using database = connectSql({ url, applicationName: 'test', password: passwordFrom(server.passwordFile) });
      for (let round = 0; round < 3; round += 1) {
        expect(await fault(database.sql`select 1`)).toBeInstanceOf(SqlUnavailableError);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect([lost > 0, unhandled]).toEqual([true, []]);
    } finally {
      process.off('unhandledRejection', note);
      proxy.close();
    }
  });

  test('the error of a refused statement has its SQLSTATE and no value', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    await sql`create table secrets (name text constraint only_once primary key)`;
    await sql`insert into secrets values ('hunter2')`;
    const error = await fault(sql`insert into secrets values ('hunter2')`);
    expect(error).toBeInstanceOf(SqlStatementError);
    expect(error).toMatchObject({ sqlState: '23505', constraint: 'only_once' });
    const wrong = await fault(sql`select ${'hunter2'}::text::int`);
    expect(wrong).toMatchObject({ sqlState: '22P02', message: 'the database refused a statement (22P02)' });
    for (const one of [error, wrong]) {
      expect(JSON.stringify(one, Object.getOwnPropertyNames(one)) + String((one as Error).stack)).not.toContain(
        'hunter2',
      );
    }
  });

  test('a database transaction commits or rolls back completely, and its callback receives the same errors', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    await sql`create table t (n int primary key)`;
    const seen: unknown[] = [];
    const error = await fault(
      sql.begin(async (tx) => {
        await tx`insert into t values (1)`;
        await tx.savepoint((inner) => inner`insert into t values (1)`).catch((inner) => seen.push(inner));
        await tx`insert into t values (2)`;
        throw new Error('changed my mind');
      }),
    );
    expect(error).toMatchObject({ message: 'changed my mind' });
    expect(seen).toEqual([expect.objectContaining({ sqlState: '23505' })]);
    expect(await sql`select * from t`).toHaveLength(0);
    await sql.begin(async (tx) => {
      await tx`insert into t values (3)`;
    });
    expect([...(await sql`select n from t`)]).toEqual([{ n: 3 }]);
  });

  test('an SQL fragment is sent as part of its statement and not alone', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const where = sql`where n > ${1}`;
    expect([...(await sql`select n from (values (1), (2)) as t (n) ${where}`)]).toEqual([{ n: 2 }]);
  });

  test('a statement that exceeds statement_timeout is ended by the server', async () => {
    await using opened = await openTestDatabase();
    await using short = opened.connect({ statementTimeoutMs: 200 });
    expect(await fault(short.sql`select pg_sleep(30)`)).toMatchObject({ code: 'sql_unavailable', reason: '57014' });
    expect([...(await short.sql`select 1 as one`)]).toEqual([{ one: 1 }]);
  });

  test('a wrong password makes the database unavailable until the file is corrected', async () => {
    await using opened = await openTestDatabase();
    const { folder, passwordFile } = await testServer();
    const other = `${folder}/other-password`;
    writeFileSync(other, 'wrong\n');
    await using database = opened.connect({ password: passwordFrom(other) });
    expect(await fault(database.sql`select 1`)).toMatchObject({ code: 'sql_unavailable', reason: '28P01' });
    writeFileSync(other, passwordFrom(passwordFile)());
    expect(await database.sql`select 1`).toHaveLength(1);
  });

  test('database sessions have the configured application name', async () => {
    await using opened = await openTestDatabase();
    await using database = opened.connect({ applicationName: 'portcullis-x' });
    expect([...(await database.sql`select current_setting('application_name') as name`)]).toEqual([
      { name: 'portcullis-x' },
    ]);
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('a server that fails'), () => {
  test('a database session that ends within a transaction rolls it back, and the pool opens a new one', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    await sql`create table t (n int)`;
    const error = await fault(
      sql.begin(async (tx) => {
        const [row] = await tx`insert into t values (1) returning pg_backend_pid() as pid`;
        await using other = opened.connect();
        await other.sql`select pg_terminate_backend(${row?.['pid']})`;
        await tx`insert into t values (2)`;
      }),
    );
    expect(error).toBeInstanceOf(SqlUnavailableError);
    await until('the pool answers', async () => (await sql`select n from t`).length === 0);
  });

  test('a database server process that is stopped within a transaction times out and rolls back', async () => {
    await using server = await startTestServer();
    await using opened = await server.createDatabase();
    await opened.database.sql`create table t (n int)`;
    const postmaster = Number((await opened.database.sql`select pg_backend_pid() as pid`)[0]?.['pid']);
    const frozen = opened.connect({ statementTimeoutMs: 200, max: 1 });
    const [own] = await frozen.sql`select pg_backend_pid() as pid`;
    const pid = Number(own?.['pid']);
    expect(pid).not.toBe(postmaster);
    const error = await fault(
      frozen.sql.begin(async (tx) => {
        await tx`insert into t values (1)`;
        process.kill(pid, 'SIGSTOP');
        await tx`insert into t values (2)`;
      }),
    );
    expect(error).toMatchObject({ code: 'sql_unavailable', reason: 'ANSWER_TIMEOUT' });
    process.kill(pid, 'SIGCONT');
    await frozen[Symbol.asyncDispose]();
    await until(
      'the transaction is rolled back',
      async () => (await opened.database.sql`select n from t`).length === 0,
    );
  });
});
