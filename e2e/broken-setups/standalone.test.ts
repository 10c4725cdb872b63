import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import { mintToken } from '#identity/mint-token';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, startTestServer, type TestServer } from '#sql/testing/test-database';
import { developmentIssuer } from '../../cli/platform/development-issuer.ts';
import { descendantsOf } from '../../cli/testing/process-tree.ts';
import { type Folder, folderWithFiles, runInProcess } from '../../cli/testing/run-cli.ts';
import { type Platform, startCommand, startPlatform } from '../support/start-platform.ts';
import { createFirstLines } from './first-lines.ts';

const lines = createFirstLines();
afterAll(() => console.log(lines.table()));

const binding = 'guarded-echo';
const hourMs = 3_600_000;

/** Runs `portcullis up` on a folder until it ends by itself. */
async function failedStart(data: string, ...more: readonly string[]): Promise<void> {
  const child = startCommand(['up', '--data', data, '--no-management', '--port', '0', ...more]);
  expect(await child.exit()).not.toBe(0);
}

/** The arguments as a user types them, without the data directory. */
const commandsOf = (data: string) => (args: readonly string[]) => () => runInProcess(args, { data });

describe.skipIf(missingPostgres !== undefined)(onPostgres('a running platform with its own database'), () => {
  let platform: Platform;
  let server: TestServer;
  let folder: Folder;
  let files: ReturnType<typeof dataDirectory>;
  beforeAll(async () => {
    folder = folderWithFiles();
    server = await startTestServer({ folder: folder.path });
    const database = await server.createDatabase();
    platform = await startPlatform({
      management: true,
      environment: {
        PORTCULLIS_DATABASE_URL: database.url,
        PORTCULLIS_DATABASE_PASSWORD_FILE: database.passwordFile,
        // The commands must see the frozen process before it is killed.
        PORTCULLIS_HUNG_AFTER_SECONDS: '24',
      },
    });
    await database.database[Symbol.asyncDispose]();
    files = dataDirectory(platform.data);
  });
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });
  const status = () => runInProcess(['status'], { data: platform.data });
  const why = (...more: readonly string[]) => runInProcess(['why', binding, ...more], { data: platform.data });
  const isWell = () =>
    until(
      'the platform has recovered',
      async () => (await status()).stdout.startsWith('Ready:') && platform.status().ready,
    );

  test('on a platform without a fault, portcullis status begins with Ready and portcullis why reports the binding as applied', async () => {
    await isWell();
    expect((await why()).stdout).toMatch(/^ModelBinding guarded-echo is applied: /);
  });

  test('status and why name a frozen gateway', async () => {
    process.kill(platform.pidOf('gateway-1'), 'SIGSTOP');
    const cause = /Process gateway-1: It is not answering: requests to it hang\./;
    await lines.expect('gateway frozen (SIGSTOP)', 'portcullis status', status, cause, /killed and restarted/);
    await lines.expect(
      'gateway frozen (SIGSTOP)',
      `portcullis why ${binding}`,
      () => why(),
      /gateway-1: It is not answering/,
      /killed and restarted/,
    );
    process.kill(platform.pidOf('gateway-1'), 'SIGCONT');
    await isWell();
  });

  test('status and why name a runtime that was killed', async () => {
    const kill = async (run: () => ReturnType<typeof status>) => {
      for (const pid of descendantsOf(platform.pid)) {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (words.startsWith('portcullis-runtime')) process.kill(pid, 'SIGKILL');
      }
      return run();
    };
    const cause = /Workload g-\S+: .*(SIGKILL|ended)/;
    await lines.expect('runtime killed', `portcullis why ${binding}`, () => kill(why), cause, /log of the runtime/);
    await lines.expect('runtime killed', 'portcullis status', () => kill(status), cause, /log of the runtime/);
    await isWell();
  });

  test('status and why name an operator that was killed, and a corrupted file of providers that prevents its start', async () => {
    const kill = (run: () => ReturnType<typeof status>) => {
      try {
        process.kill(platform.pidOf('operator'), 'SIGKILL');
      } catch {
        // The operator has not been restarted at this moment.
      }
      return run();
    };
    const cause = /Process operator: It was ended by SIGKILL/;
    await lines.expect('operator killed', 'portcullis status', () => kill(status), cause, /restarted automatically/);
    await lines.expect(
      'operator killed',
      `portcullis why ${binding}`,
      () => kill(why),
      cause,
      /restarted automatically/,
    );
    const providers = readFileSync(files.providers, 'utf8');
    writeFileSync(files.providers, 'providers: [{ name: echo, kind:');
    await kill(status);
    const broken = /Process operator: It ended with exit code \d: .*providers\.yaml/;
    await lines.expect('file of providers corrupted', 'portcullis status', status, broken, /Correct the cause/);
    await lines.expect('file of providers corrupted', `portcullis why ${binding}`, why, broken, /Correct the cause/);
    writeFileSync(files.providers, providers);
    await isWell();
  });

  test('status and why name an empty token file of the platform', async () => {
    const token = readFileSync(files.apiToken, 'utf8');
    writeFileSync(files.apiToken, '');
    const cause = /token file .*api\.token: contains no token/;
    await lines.expect('token of the platform lost', `portcullis why ${binding}`, why, cause, /start it again/);
    await lines.expect('token of the platform lost', 'portcullis status', status, cause, /start it again/);
    writeFileSync(files.apiToken, token);
    await isWell();
  });

  test('why over the management API names a wrong, an expired and an early token', async () => {
    const ask = (name: string, token: string) => () =>
      why('--via', 'api', '--token-file', folder.write(name, `${token}\n`));
    const mint = (skewMs: number) =>
      mintToken({
        keyFile: files.signingKeys,
        ...developmentIssuer,
        subject: 'admin',
        ttlSeconds: 600,
        clock: { now: () => 0, date: () => new Date(Date.now() + skewMs) },
      });
    const command = `portcullis why ${binding} --via api --token-file FILE`;
    await lines.expect(
      'token wrong',
      command,
      ask('wrong', 'not-a-token'),
      /API does not accept the token/,
      /get a new one/,
    );
    await lines.expect(
      'token expired',
      command,
      ask('old', await mint(-hourMs)),
      /The token expired at /,
      /get a new one/,
    );
    await lines.expect(
      'clock of the issuer ahead',
      command,
      ask('early', await mint(hourMs)),
      /The token is not valid before .* clock of this machine says/,
      /set the clock/,
    );
  });

  test('status names a database that is unreachable', async () => {
    await server.process.end('SIGTERM');
    await lines.expect(
      'database away',
      'portcullis status',
      status,
      /Management API: The database does not answer\./,
      /Start the database/,
    );
  });
});

describe('a platform that cannot start', () => {
  test('status and why name a used port', async () => {
    using folder = folderWithFiles();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await failedStart(folder.path, '--port', String(port));
    other.close();
    const run = commandsOf(folder.path);
    const cause = new RegExp(`The last start failed: Port ${port} is used by another program`);
    await lines.expect('port taken', 'portcullis status', run(['status']), cause, /choose another one with --port/);
    await lines.expect('port taken', `portcullis why ${binding}`, run(['why', binding]), cause, /choose another one/);
    await using _platform = await startPlatform({ data: folder.path });
    expect((await run(['status'])()).stdout).toMatch(/^Ready: +yes/);
  });

  test('status names a corrupted file of providers', async () => {
    using folder = folderWithFiles();
    mkdirSync(join(folder.path, 'apply'));
    folder.write('lock', '');
    folder.write('providers.yaml', 'providers: [{ name: echo, kind:');
    await failedStart(folder.path);
    const run = commandsOf(folder.path);
    await lines.expect(
      'file of providers corrupted before the start',
      'portcullis status',
      run(['status']),
      /The last start failed: .*providers\.yaml/,
      /correct/i,
    );
  });

  test('status names a data directory whose database has another version', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    {
      await using _first = await startPlatform({ data, management: true });
    }
    writeFileSync(join(data, 'postgres/data/PG_VERSION'), '12\n');
    await using _second = await startPlatform({ data, management: true });
    const run = commandsOf(data);
    await lines.expect(
      'data directory of another version',
      'portcullis status',
      run(['status']),
      /holds a database of PostgreSQL 12/,
      /database-of-another-major-version/,
    );
  });
});

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)(isRoot ? 'a small file system' : 'a small file system (needs root)', () => {
  /** A folder on its own file system. */
  function mounted(size: string) {
    const folder = folderWithFiles();
    const mount = (...args: readonly string[]) => execFileSync('mount', [...args, folder.path]);
    mount('-t', 'tmpfs', '-o', `size=${size}`, 'none');
    return {
      path: folder.path,
      setReadOnly: () => mount('-o', 'remount,ro'),
      [Symbol.dispose]() {
        execFileSync('umount', ['--lazy', folder.path]);
        folder[Symbol.dispose]();
      },
    };
  }

  test('status names a full disk, of a running platform and of one that starts', async () => {
    using disk = mounted('32m');
    const data = join(disk.path, 'data');
    const run = commandsOf(data);
    const cause = /Data directory: No space is left on the disk of /;
    {
      await using _platform = await startPlatform({ data });
      const { bavail, bsize } = statfsSync(disk.path);
      writeFileSync(join(disk.path, 'filler'), Buffer.alloc(bavail * bsize));
      await lines.expect('disk full', 'portcullis status', run(['status']), cause, /Free space/);
    }
    const child = startCommand(['up', '--data', data, '--no-management', '--port', '0']);
    await lines.expect('disk full at the start', 'portcullis status', run(['status']), cause, /Free space/);
    await child.end();
  });

  test('why names a disk that is mounted read-only', async () => {
    using disk = mounted('4m');
    writeFileSync(join(disk.path, 'lock'), '');
    disk.setReadOnly();
    const run = commandsOf(disk.path)(['why', binding]);
    await lines.expect('disk read-only', `portcullis why ${binding}`, run, /cannot be written \(EROFS\)/, /writable/);
  });
});
