import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processTable } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, onPostgres, startTestServer, type TestServer } from '#sql/testing/test-database';
import { readConfig } from './config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-postgres-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const start = (listen?: string): Promise<TestServer> =>
  startTestServer({ folder, ...(listen === undefined ? {} : { listen }) });
const data = (): string => join(folder, 'postgres/data');
/** Finds the process id of the PostgreSQL server. */
const postmaster = (): number => Number(readFileSync(join(data(), 'postmaster.pid'), 'utf8').split('\n')[0]);
const isAlive = (pid: number): boolean => processTable().some((entry) => entry.pid === pid);

async function query(server: TestServer, text: string): Promise<readonly unknown[]> {
  const password = passwordFrom(server.passwordFile);
  await using database = connectSql({ url: server.process.url, password, applicationName: 'test' });
  return [...(await database.sql.unsafe(text))];
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the embedded PostgreSQL'), () => {
  test('data survives a restart, and the process exits with 0', async () => {
    {
      await using server = await start();
      expect(server.process.url).toMatch(/^postgres:\/\/portcullis@127\.0\.0\.1:\d+\/portcullis$/);
      await query(server, 'create table t as select 1 as n');
      expect(await server.process.end('SIGTERM')).toBe(0);
      expect(existsSync(join(data(), 'postmaster.pid'))).toBe(false);
    }
    await using again = await start();
    expect(await query(again, 'select n from t')).toEqual([{ n: 1 }]);
    expect(again.process.log()).not.toContain('not properly shut down');
  });

  test('the data folder is private, also below a folder that only root may enter', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    await using server = await startTestServer({ folder: closed });
    expect(await query(server, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(statSync(join(closed, 'postgres')).mode & 0o777).toBe(0o700);
    // The test needs an unprivileged account, because PostgreSQL never runs as root.
    const owner = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
    const inner = processTable().find(
      ({ parent, command }) => parent === server.process.pid && /bin\/postgres/.test(command),
    );
    const status = readFileSync(`/proc/${inner?.pid}/status`, 'utf8');
    expect(/^Uid:\t(\d+)/m.exec(status)?.[1]).not.toBe('0');
    expect(owner).toContain('Uid:');
  });

  test('the log contains no statements, values or error details', async () => {
    await using server = await start();
    await query(server, 'create table t (name text primary key)');
    await query(server, "insert into t values ('hunter2')");
    await expect(query(server, "insert into t values ('hunter2')")).rejects.toThrow('23505');
    await expect(query(server, "select 'hunter2'::int")).rejects.toThrow('22P02');
    await expect(query(server, "do $$ begin raise warning 'hunter2'; raise log 'quiet'; end $$")).resolves.toEqual([]);
    expect(server.process.log()).not.toContain('hunter2');
  });

  test('a connection without the password is refused', async () => {
    await using server = await start();
    await using without = connectSql({ url: server.process.url, applicationName: 'test' });
    await expect(without.sql`select 1`).rejects.toMatchObject({ code: 'sql_unavailable' });
    await using wrong = connectSql({ url: server.process.url, applicationName: 'test', password: () => 'wrong' });
    await expect(wrong.sql`select 1`).rejects.toMatchObject({ reason: '28P01' });
  });

  test.each([
    ['another word', 'another'],
    ['signs that mean something to SQL', `it's \\ "x"; drop role portcullis --`],
    ['several lines', 'one\n\ntwo'],
    ['letters beyond ASCII', 'pässwörd'],
  ])('a password file with another password at a later start changes the password: %s', async (_what, password) => {
    await (await start())[Symbol.asyncDispose]();
    const before = readFileSync(join(folder, 'password'), 'utf8').trimEnd();
    writeFileSync(join(folder, 'password'), `${password}\n`);
    await using server = await start();
    expect(await query(server, 'select 1 as n')).toEqual([{ n: 1 }]);
    await using old = connectSql({ url: server.process.url, applicationName: 'test', password: () => before });
    await expect(old.sql`select 1`).rejects.toMatchObject({ reason: '28P01' });
    const changed = 'postgres: the password of the database was changed to that of the file';
    await until('the change is in the log', () => server.process.log().includes(changed));
    expect(server.process.log()).not.toContain(password);
    await server.process.end('SIGTERM');
    await using again = await start();
    expect(await query(again, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(again.process.log()).not.toContain('was changed to that of the file');
  });

  test('a password that PostgreSQL refuses prevents the first start', async () => {
    writeFileSync(join(folder, 'password'), 'a\0b\n');
    await expect(start()).rejects.toThrow('refuses the password of the file: write another one');
    expect(existsSync(data())).toBe(false);
  });

  test('clients are not superusers and cannot connect as a superuser', async () => {
    await using server = await start();
    const [role] = await query(server, 'select rolsuper, rolreplication from pg_roles where rolname = current_user');
    expect(role).toEqual({ rolsuper: false, rolreplication: false });
    await expect(query(server, "copy (select 1) to program 'true'")).rejects.toThrow('42501');
    await using other = connectSql({
      url: server.process.url.replace('portcullis@', 'postgres@'),
      applicationName: 'test',
      password: passwordFrom(server.passwordFile),
    });
    await expect(other.sql`select 1`).rejects.toMatchObject({ reason: '28P01' });
  });

  test('a new password that PostgreSQL refuses prevents the start, and the earlier one stays', async () => {
    await (await start())[Symbol.asyncDispose]();
    const before = readFileSync(join(folder, 'password'));
    writeFileSync(join(folder, 'password'), 'a\0b\n');
    await expect(start()).rejects.toThrow('does not match the database and cannot be set there: put back');
    writeFileSync(join(folder, 'password'), before);
    await using again = await start();
    expect(again.process.log()).not.toContain('was changed to that of the file');
  });

  test('an empty password file prevents the start', async () => {
    writeFileSync(join(folder, 'password'), '\n');
    await expect(start()).rejects.toThrow('is empty: write a password');
  });

  test('a folder of another major version is refused unchanged with the remedy', async () => {
    mkdirSync(data(), { recursive: true });
    writeFileSync(join(data(), 'PG_VERSION'), '16\n');
    await expect(start()).rejects.toThrow(
      /holds a database of PostgreSQL 16, this is 18: start the release that made it/,
    );
    expect(readFileSync(join(data(), 'PG_VERSION'), 'utf8')).toBe('16\n');
  });

  test('a start after a killed first start creates the folder again', async () => {
    mkdirSync(join(folder, 'postgres/data.new/base'), { recursive: true });
    chmodSync(join(folder, 'postgres'), 0o755);
    await using server = await start();
    expect(await query(server, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('the database process exits with code 1 when PostgreSQL exits', async () => {
    await using server = await start();
    process.kill(postmaster(), 'SIGKILL');
    expect(await server.process.exit()).toBe(1);
    expect(server.process.log()).toContain('postgres: unexpected failure: PostgreSQL was ended by SIGKILL (ended)');
    await using again = await start();
    expect(await query(again, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('PostgreSQL exits when the process is killed, and committed data survives', async () => {
    let pid: number;
    {
      await using server = await start();
      await query(server, 'create table t as select 1 as n');
      pid = postmaster();
      await server.process.end('SIGKILL');
      await until('PostgreSQL exits too', () => !isAlive(pid));
    }
    await using again = await start();
    expect(await query(again, 'select n from t')).toEqual([{ n: 1 }]);
  });

  test('an orphaned server is stopped, also a frozen one, and its folder is used', async () => {
    const first = await start();
    const pid = postmaster();
    // The test also kills the process that guards the server, as an out-of-memory kill can.
    const guard = processTable().find(
      ({ parent, command }) => parent === first.process.pid && command.includes(`guard ${pid}`),
    );
    process.kill(guard?.pid as number, 'SIGKILL');
    process.kill(pid, 'SIGSTOP');
    await first.process.end('SIGKILL');
    expect(isAlive(pid)).toBe(true);
    await using again = await start();
    expect(isAlive(pid)).toBe(false);
    expect(await query(again, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('a stale postmaster.pid with the id of another process does not prevent the start', async () => {
    await (await start())[Symbol.asyncDispose]();
    writeFileSync(join(data(), 'postmaster.pid'), `${process.pid}\n/elsewhere\n`);
    await using again = await start();
    expect(await query(again, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('a folder that another process uses prevents the start', async () => {
    await using server = await start();
    await expect(start()).rejects.toThrow(`is in use by process ${server.process.pid}: stop that process first`);
    expect(await query(server, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('an address in use prevents the start and the error names the setting', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(start(`127.0.0.1:${port}`)).rejects.toThrow(
      `127.0.0.1:${port} is in use: choose another PORTCULLIS_LISTEN`,
    );
    other.close();
  });

  test('a folder that cannot be written prevents the start with an error', async () => {
    writeFileSync(join(folder, 'postgres'), 'a file');
    await expect(start()).rejects.toThrow('cannot be created or given its owner');
  });

  test.skipIf(process.getuid?.() !== 0)('binaries that only root may reach are copied once (needs root)', async () => {
    const { reachableBinaries } = await import('./server/reachable-binaries.ts');
    const { findBinaries } = await import('./server/binaries.ts');
    const { accountOf } = await import('./server/account.ts');
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    spawnSync('cp', ['-a', findBinaries().home, join(closed, 'native')]);
    const account = accountOf();
    const hidden = { home: join(closed, 'native'), major: 9_999 };
    const reachable = reachableBinaries(hidden, account);
    expect(reachable.home).not.toBe(hidden.home);
    expect(spawnSync(join(reachable.home, 'bin/postgres'), ['--version'], { cwd: '/', ...account }).status).toBe(0);
    expect(reachableBinaries(hidden, account)).toEqual(reachable);
    rmSync(reachable.home, { recursive: true });
  });
});

test.each(['0.0.0.0:5432', 'localhost:0'])('the PostgreSQL process refuses to listen on %s', (listen) => {
  const env = {
    PORTCULLIS_LISTEN: listen,
    PORTCULLIS_POSTGRES_DIR: folder,
    PORTCULLIS_DATABASE_PASSWORD_FILE: import.meta.filename,
  };
  expect(() => readConfig(env)).toThrow('PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]');
});
