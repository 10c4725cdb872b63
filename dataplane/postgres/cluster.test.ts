import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { unusedPort } from '#kit/testing/loopback';
import { childrenOf } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import { connectSql, type Database } from '#sql/connect';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type RunningProcess, startProcess } from '../../e2e/support/start-process.ts';
import { readConfig } from './config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-postgres-'));
  writeFileSync(join(folder, 'password'), 'first\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const data = (): string => join(folder, 'postgres/data');

function environment(settings: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PORTCULLIS_LISTEN: '0.0.0.0:0',
    PORTCULLIS_SERVE_CLUSTER: 'true',
    PORTCULLIS_ADMIN_LISTEN: '127.0.0.1:0',
    PORTCULLIS_POSTGRES_DIR: join(folder, 'postgres'),
    PORTCULLIS_DATABASE_PASSWORD_FILE: join(folder, 'password'),
    ...settings,
  };
}

function start(settings: Readonly<Record<string, string>> = {}): Promise<RunningProcess> {
  return startProcess({
    file: 'dataplane/postgres/main.ts',
    environment: environment(settings),
  });
}

function connect(server: RunningProcess, options: { host?: string; user?: string; password?: string } = {}): Database {
  const { host = '127.0.0.1', user = 'portcullis', password = 'first' } = options;
  const url = server.url.replace(/\/\/.*@.*(?=:\d+\/)/, `//${user}@${host}`);
  return connectSql({ url, password: () => password, applicationName: 'test', statementTimeoutMs: 60_000 });
}

async function ask(server: RunningProcess, path: string): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await fetch(`${server.ready['admin']}${path}`);
  return { status: answer.status, body: await answer.text() };
}

/** An address of this machine that is not on the loopback network. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe.skipIf(missingPostgres !== undefined)(onPostgres('the database of a cluster'), () => {
  test.skipIf(outside === undefined)(
    'the database server accepts network clients with their password only',
    async () => {
      const host = outside ?? '';
      await using server = await start();
      expect(server.url).toMatch(/^postgres:\/\/portcullis@0\.0\.0\.0:\d+\/portcullis$/);
      await using client = connect(server, { host });
      expect(await client.sql`select current_user as u, current_database() as d`).toMatchObject([
        { u: 'portcullis', d: 'portcullis' },
      ]);
      await using wrong = connect(server, { host, password: 'wrong' });
      await expect(wrong.sql`select 1`).rejects.toMatchObject({ reason: '28P01' });
      const rules = readFileSync(join(data(), 'pg_hba.conf'), 'utf8');
      expect(rules.split('\n').filter((line) => /^[^#]/.test(line))).toEqual(['host all all all scram-sha-256']);
    },
  );

  test('a connection of a lost client is closed after two minutes', async () => {
    await using server = await start();
    await using client = connect(server);
    const shown = await client.sql`
      select current_setting('tcp_keepalives_idle')::int
        + current_setting('tcp_keepalives_interval')::int * current_setting('tcp_keepalives_count')::int as seconds`;
    expect([...shown]).toEqual([{ seconds: 120 }]);
  });

  test.skipIf(outside === undefined)(
    'without PORTCULLIS_SERVE_CLUSTER connections from the network are refused',
    async () => {
      await using server = await start({ PORTCULLIS_LISTEN: '127.0.0.1:0', PORTCULLIS_SERVE_CLUSTER: 'false' });
      await using client = connect(server, { host: outside ?? '' });
      await expect(client.sql`select 1`).rejects.toMatchObject({ reason: 'ECONNREFUSED' });
    },
  );

  test('a changed pg_hba.conf is overwritten at the next start', async () => {
    await (await start()).end();
    writeFileSync(join(data(), 'pg_hba.conf'), 'host all all all trust\n');
    await using server = await start();
    await using wrong = connect(server, { password: 'wrong' });
    await expect(wrong.sql`select 1`).rejects.toMatchObject({ reason: '28P01' });
  });

  test('the log does not name an unknown role', async () => {
    await using server = await start();
    await using client = connect(server, { user: 'hunter2' });
    await expect(client.sql`select 1`).rejects.toMatchObject({ reason: '28P01' });
    await until('the failure is logged', () =>
      server.log().includes('FATAL:  password authentication failed for user\n'),
    );
    expect(server.log()).not.toContain('hunter2');
  });

  test('the log does not contain the statement of a killed session, and the server recovers', async () => {
    await using server = await start();
    await using client = connect(server);
    const [session] = await client.sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
    const lost = client.sql`select pg_sleep(60), 'hunter2'`.execute().catch((error: unknown) => error);
    await until('the session sleeps', async () => (await metric(server, 'connections{state="active"')) === 1);
    process.kill(session.pid, 'SIGKILL');
    expect(await lost).toMatchObject({ code: 'sql_unavailable' });
    await until('the server is ready again', async () => (await ask(server, '/readyz')).status === 200);
    await until('the end of the session is in the log', () => server.log().includes('was terminated by signal 9'));
    expect(server.log()).not.toContain('hunter2');
  });

  test('SIGTERM disconnects clients, keeps committed data and exits with 0', async () => {
    {
      await using server = await start();
      await using client = connect(server);
      await client.sql`create table t (n int)`;
      await client.sql`insert into t values (1)`;
      const cut = client.sql
        .begin(async (sql) => {
          await sql`insert into t values (2)`;
          await sql`select pg_sleep(60)`;
        })
        .catch((error: unknown) => error);
      await until('the session sleeps', async () => (await metric(server, 'connections{state="active"')) === 1);
      expect(await server.end('SIGTERM')).toBe(0);
      expect(await cut).toMatchObject({ code: 'sql_unavailable' });
      expect(server.log()).toContain('database system is shut down');
    }
    await using again = await start();
    await using client = connect(again);
    expect([...(await client.sql`select n from t`)]).toEqual([{ n: 1 }]);
    expect(again.log()).not.toContain('not properly shut down');
  });

  test('group permissions on the data folder are removed at the start', async () => {
    await (await start()).end();
    for (const path of ['postgres', 'postgres/data']) chmodSync(join(folder, path), 0o2770);
    await using server = await start();
    expect((await ask(server, '/readyz')).status).toBe(200);
    for (const path of ['postgres', 'postgres/data']) {
      expect(statSync(join(folder, path)).mode & 0o7777).toBe(0o700);
    }
  });

  test('the error for a folder of another major version names the page with the remedy', async () => {
    mkdirSync(data(), { recursive: true });
    writeFileSync(join(data(), 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow('docs/runbooks/database-of-another-major-version.md says how');
    expect(readFileSync('docs/runbooks/database-of-another-major-version.md', 'utf8')).toMatch(
      /^# .*another major version/,
    );
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('readiness and metrics of the database'), () => {
  test('the admin address of the database is alive from the start, and ready when the server accepts clients', async () => {
    const admin = `127.0.0.1:${await unusedPort()}`;
    const starting = start({ PORTCULLIS_ADMIN_LISTEN: admin });
    const get = async (path: string): Promise<string> => (await fetch(`http://${admin}${path}`)).text();
    expect(await until('the admin address answers', () => get('/readyz'))).toBe('PostgreSQL is starting\n');
    expect(await get('/livez')).toBe('ok\n');
    expect(await get('/metrics')).toContain('portcullis_postgres_ready{service="postgres"} 0');
    await using server = await starting;
    expect(await ask(server, '/readyz')).toEqual({ status: 200, body: 'ok\n' });
  });

  test('a stopped server is unready until it continues', async () => {
    await using server = await start();
    const [postmaster = 0] = childrenOf(server.pid, 'bin/postgres');
    process.kill(postmaster, 'SIGSTOP');
    try {
      const [readiness, ready] = await Promise.all([ask(server, '/readyz'), metric(server, 'ready{')]);
      expect(readiness).toEqual({ status: 503, body: 'PostgreSQL does not answer\n' });
      expect(ready).toBe(0);
      expect((await ask(server, '/livez')).status).toBe(200);
    } finally {
      process.kill(postmaster, 'SIGCONT');
    }
    await until('the server is ready again', async () => (await ask(server, '/readyz')).status === 200);
    expect(await metric(server, 'ready{')).toBe(1);
  });

  test('a server that stays stopped is killed after 10 s, and its process ends so that both are started again', async () => {
    await using server = await start();
    const [postmaster = 0] = childrenOf(server.pid, 'bin/postgres');
    process.kill(postmaster, 'SIGSTOP');
    expect(await server.exit()).not.toBe(0);
    expect(server.log()).toContain('PostgreSQL did not answer for 10 s and was killed');
  });

  test('a server without a free connection is ready', async () => {
    await using server = await start();
    await using clients = new AsyncDisposableStack();
    const one = (): Database => clients.use(connect(server));
    for (let opened = 0; opened < 198; opened += 11)
      await Promise.all(Array.from({ length: 11 }, () => one().sql`select 1`));
    expect(await metric(server, 'connections{state="idle"')).toBe(198);
    await one().sql`select 1`;
    await one().sql`select 1`;
    await expect(one().sql`select 1`).rejects.toMatchObject({ reason: '53300' });
    expect((await ask(server, '/readyz')).status).toBe(200);
    expect(await metric(server, 'ready{')).toBe(1);
  });

  test('a password file that changes at run time does not make the server unready', async () => {
    await using server = await start();
    writeFileSync(join(folder, 'password'), 'second\n');
    expect((await ask(server, '/readyz')).status).toBe(200);
  });

  test('metrics show connections by state, the size of the database and the oldest transaction', async () => {
    await using server = await start();
    expect(await metric(server, 'ready{')).toBe(1);
    expect(await metric(server, 'connections{state="idle"')).toBe(0);
    expect(await metric(server, 'oldest_transaction_seconds{')).toBe(0);
    expect(await metric(server, 'connections_max{')).toBe(200);
    const { bavail, bsize } = statfsSync(folder);
    // Other processes write to the same file system during the test.
    expect((await metric(server, 'storage_available_bytes{')) / (bavail * bsize)).toBeCloseTo(1, 1);
    const before = await metric(server, 'database_bytes{');
    await using client = connect(server);
    await client.sql`create table t as select repeat('x', 1000) as x from generate_series(1, 10000)`;
    expect((await metric(server, 'database_bytes{')) - before).toBeGreaterThan(5_000_000);
    expect(await metric(server, 'connections{state="idle"')).toBe(1);
    await client.sql.begin(async (sql) => {
      await sql`select 1`;
      expect(await metric(server, 'connections{state="idle_in_transaction"')).toBe(1);
      expect(await metric(server, 'oldest_transaction_seconds{')).toBeGreaterThan(0);
    });
    const { body } = await ask(server, '/metrics');
    expect(body).not.toMatch(/application|hunter2|portcullis_postgres_[a-z_]+\{[^}]*(user|database|query)=/);
  });

  test('the admin server is not started without an address', async () => {
    await using server = await startProcess({
      file: 'dataplane/postgres/main.ts',
      environment: {
        PORTCULLIS_POSTGRES_DIR: join(folder, 'postgres'),
        PORTCULLIS_DATABASE_PASSWORD_FILE: join(folder, 'password'),
      },
    });
    expect(server.ready).toEqual({ listening: server.url });
  });
});

async function metric(server: RunningProcess, start: string): Promise<number> {
  const { body } = await ask(server, '/metrics');
  const line = body.split('\n').find((found) => found.startsWith(`portcullis_postgres_${start}`));
  return Number(line?.split(' ').at(-1));
}

describe('the address of the database', () => {
  const read = (settings: Readonly<Record<string, string>>) => readConfig({ ...environment(), ...settings });

  test.each(['0.0.0.0:5432', '10.0.0.1:5432', '[::]:5432'])(
    'the database address %s is accepted in a cluster only',
    (address) => {
      expect(read({ PORTCULLIS_LISTEN: address }).servesCluster).toBe(true);
      const alone = { PORTCULLIS_SERVE_CLUSTER: 'false', PORTCULLIS_LISTEN: address };
      expect(() => read(alone)).toThrow('PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]');
      const admin = { PORTCULLIS_SERVE_CLUSTER: 'false', PORTCULLIS_LISTEN: '127.0.0.1:0' };
      expect(() => read({ ...admin, PORTCULLIS_ADMIN_LISTEN: address })).toThrow('PORTCULLIS_ADMIN_LISTEN must be');
    },
  );

  test.each(['yes', '1', 'TRUE', ''])(
    'PORTCULLIS_SERVE_CLUSTER=%j does not open the database to the network',
    (word) => {
      const alone = { PORTCULLIS_SERVE_CLUSTER: word, PORTCULLIS_LISTEN: '0.0.0.0:5432' };
      expect(() => read(alone)).toThrow();
    },
  );

  test('the default address of the database is loopback', () => {
    const { PORTCULLIS_LISTEN, PORTCULLIS_SERVE_CLUSTER, PORTCULLIS_ADMIN_LISTEN, ...rest } = environment();
    const config = readConfig(rest);
    expect(config).toMatchObject({ listen: { host: '127.0.0.1' }, servesCluster: false, adminListen: undefined });
  });
});
