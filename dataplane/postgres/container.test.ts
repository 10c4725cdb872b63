import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { containerUser, type DatabaseContainer, missingContainers, startContainer } from './testing/start-container.ts';

let folder: string;
let running: DatabaseContainer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-container-'));
  chownSync(folder, containerUser, containerUser);
  writeFileSync(join(folder, 'password'), 'first\n');
});
afterEach(async () => {
  await running?.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const lockFile = (): string => join(folder, 'postgres/data/postmaster.pid');

async function start(): Promise<DatabaseContainer> {
  running = await startContainer({
    PORTCULLIS_LISTEN: '0.0.0.0:0',
    PORTCULLIS_SERVE_CLUSTER: 'true',
    PORTCULLIS_ADMIN_LISTEN: '127.0.0.1:0',
    PORTCULLIS_POSTGRES_DIR: join(folder, 'postgres'),
    PORTCULLIS_DATABASE_PASSWORD_FILE: join(folder, 'password'),
  });
  return running;
}

async function query(container: DatabaseContainer, text: string): Promise<readonly unknown[]> {
  const password = passwordFrom(join(folder, 'password'));
  const url = container.url.replace('0.0.0.0', '127.0.0.1');
  await using database = connectSql({ url, password, applicationName: 'test' });
  return [...(await database.sql.unsafe(text))];
}

const missing = missingPostgres ?? missingContainers;
const title = `the database as the first process of a container${missing === undefined ? '' : ` (${missing})`}`;

describe.skipIf(missing !== undefined)(onPostgres(title), () => {
  test('a container exits with 0 after SIGTERM', async () => {
    const first = await start();
    await query(first, 'create table t as select 1 as n');
    expect(await first.stop()).toBe(0);
    expect(existsSync(lockFile())).toBe(false);
    expect(first.log()).toContain('database system is shut down');
    const again = await start();
    expect(await query(again, 'select n from t')).toEqual([{ n: 1 }]);
    expect(again.log()).not.toContain('not properly shut down');
  });

  test('committed data survives SIGKILL of the whole container', async () => {
    const first = await start();
    await query(first, 'create table t as select 1 as n');
    await first.kill();
    expect(existsSync(lockFile())).toBe(true);
    const again = await start();
    expect(again.log()).toContain('not properly shut down');
    expect(await query(again, 'select n from t')).toEqual([{ n: 1 }]);
  });

  // This process has the id 1; the next ids belong to its threads, which PostgreSQL would take for processes.
  test.each([1, 2, 3, 5, 7])(
    'a lock file that names process %i of an earlier container does not prevent a start',
    async (pid) => {
      const first = await start();
      await first.kill();
      const rest = readFileSync(lockFile(), 'utf8').replace(/^\d+/, '');
      writeFileSync(lockFile(), `${pid}${rest}`);
      const again = await start();
      expect(await query(again, 'select 1 as n')).toEqual([{ n: 1 }]);
    },
  );

  test('a truncated postmaster.pid does not prevent the start', async () => {
    await (await start()).kill();
    writeFileSync(lockFile(), '');
    const again = await start();
    expect(await query(again, 'select 1 as n')).toEqual([{ n: 1 }]);
  });
});
