import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unusedPort } from '#kit/testing/loopback';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase, startTestServer } from '#sql/testing/test-database';
import { manifestOfWord } from '../../../cli/testing/policy-text.ts';
import { descendantsOf } from '../../../cli/testing/process-tree.ts';
import { folderWithFiles, runCli } from '../../../cli/testing/run-cli.ts';
import { type Platform, startPlatform } from '../../support/start-platform.ts';

const run = (platform: Platform, args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runCli(args, { data: platform.data, ...(input === undefined ? {} : { input }) });

const create = (platform: Platform, name: string): Promise<ProgramEnd> =>
  run(platform, ['apply', '-f', '-', '--via', 'api'], manifestOfWord(name, 'word'));

const external = ({ url, passwordFile }: { readonly url: string; readonly passwordFile: string }) => ({
  PORTCULLIS_DATABASE_URL: url,
  PORTCULLIS_DATABASE_PASSWORD_FILE: passwordFile,
});

/** Everything visible about a platform: files, terminal output, arguments and environment of its processes. */
function shownBy(platform: Platform): string {
  const logs = join(platform.data, 'logs');
  const told = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
  const started = descendantsOf(platform.status().pid).map(commandLineOf);
  return [platform.output(), readFileSync(join(platform.data, 'status.json'), 'utf8'), ...told, ...started].join('\n');
}

/** The arguments of a process; empty for a process that has ended, such as the process of a bundle validation. */
function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('a platform with an external PostgreSQL'), () => {
  test('a platform with an external PostgreSQL stores its records there, starts no database server, shows no password, and finds its records after a restart', async () => {
    await using held = await openTestDatabase();
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const options = { data, management: true, environment: external(held) };
    {
      await using platform = await startPlatform(options);
      expect(platform.status().processes.map(({ name }) => name)).not.toContain('postgres');
      expect((await create(platform, 'kept-outside')).code).toBe(0);
      expect(existsSync(join(data, 'postgres'))).toBe(false);
      const [row] = await held.database.sql`select count(*)::int as operations from management.operations`;
      expect(row).toEqual({ operations: 1 });
      expect(shownBy(platform)).not.toContain(readFileSync(held.passwordFile, 'utf8').trim());
      expect(await platform.end()).toBe(0);
    }
    // The platform must not stop the external server.
    expect(await held.database.sql`select 1 as one`).toEqual([{ one: 1 }]);
    await using again = await startPlatform(options);
    expect((await run(again, ['get', 'gp', '-o', 'wide', '--via', 'api'])).stdout).toContain('kept-outside');
    expect((await create(again, 'kept-too')).code).toBe(0);
  });

  test('while an external database is down the management API reports it and models stay guarded; it recovers with the database', async () => {
    using folder = folderWithFiles();
    const listen = `127.0.0.1:${await unusedPort()}`;
    const first = await startTestServer({ folder: folder.path, listen });
    const database = await first.createDatabase();
    const { host } = new URL(database.url);
    await using platform = await startPlatform({ management: true, environment: external(database) });
    expect((await create(platform, 'before')).code).toBe(0);
    await database.database[Symbol.asyncDispose]();
    await first.process.end('SIGTERM');
    const away = await create(platform, 'meanwhile');
    expect(away).toMatchObject({ code: expect.any(Number), stdout: '' });
    expect(away.code).not.toBe(0);
    expect(await run(platform, ['chat', 'guarded-echo', '-m', 'Hello'])).toMatchObject({ code: 0, stdout: 'Hello\n' });
    await using second = await startTestServer({ folder: folder.path, listen: host });
    expect(new URL(second.process.url).host).toBe(host);
    await until('the management API accepts commands again', async () => (await create(platform, 'after')).code === 0);
    const { stdout } = await run(platform, ['get', 'gp', '-o', 'wide', '--via', 'api']);
    expect(stdout).toContain('before');
    expect(stdout).not.toContain('meanwhile');
  });

  test('a database URL that contains a password is refused, guarded chats are served, and the password is not repeated', async () => {
    using folder = folderWithFiles();
    const passwordFile = join(folder.path, 'password');
    writeFileSync(passwordFile, 'any\n');
    const environment = external({ url: 'postgres://portcullis:hunter2@127.0.0.1:1/portcullis', passwordFile });
    await using platform = await startPlatform({ management: true, environment });
    expect(platform.status().managementOff).toContain('the URL of the database holds a password');
    expect(await run(platform, ['chat', 'guarded-echo', '-m', 'Hello'])).toMatchObject({ code: 0, stdout: 'Hello\n' });
    expect(shownBy(platform)).not.toContain('hunter2');
  });
});
