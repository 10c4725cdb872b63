import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { connectSql, type Database } from '#sql/connect';
import { root } from '../../check/run-tool.ts';
import { buildAllImages } from '../image/build-images.ts';
import { portcullisImage } from '../image/portcullis-image.ts';
import { postgresImage } from '../image/postgres-image.ts';
import { standaloneImage } from '../image/standalone-image.ts';
import type { Image } from '../image/write-image.ts';
import { type ImagePod, startImagePod } from './image-pod.ts';

const canRun = process.platform === 'linux' && userInfo().uid === 0;
const stage = fileURLToPath(new URL('../image/stage.ts', import.meta.url));
const identity = ['--setuid=65532', '--setgid=65532'];

type Manifest = readonly { readonly RepoTags: readonly string[]; readonly Layers: readonly string[] }[];

/** Unpacks an archive of images as a container engine does. @returns the folder with the files of each image */
function unpack(archiveFile: string, folder: string): ReadonlyMap<string, string> {
  mkdirSync(folder);
  execFileSync('tar', ['-x', '-f', archiveFile, '-C', folder]);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const trees = manifest.map(({ RepoTags: [name = ''], Layers }, at) => {
    const tree = join(folder, `tree-${at}`);
    mkdirSync(tree);
    for (const layer of Layers) execFileSync('tar', ['-x', '-p', '-f', join(folder, layer), '-C', tree]);
    return [name, tree] as const;
  });
  return new Map(trees);
}

function modesOf(path: string): readonly string[] {
  const modes = execFileSync('find', ['.', '-printf', '%p %m\n'], { cwd: path, encoding: 'utf8' });
  return modes
    .split('\n')
    .filter((line) => !line.startsWith('. '))
    .sort();
}

type StandaloneStatus = {
  readonly addresses: Readonly<Record<'gateway' | 'api' | 'operator' | 'management' | 'issuer', string>> & {
    readonly gatewayAdmins: readonly string[];
  };
};

/** The command and the environment of the standalone image. */
function standaloneSettings(): Pick<Image, 'command' | 'environment'> {
  return standaloneImage(root, postgresImage(root, portcullisImage(root)));
}

const describeImages = (): void => {
  const scratch = temporaryFolder();
  let ids: readonly string[];
  let tree: string;
  let postgresTree: string;
  let standaloneTree: string;
  beforeAll(() => {
    const { archiveFile, images } = buildAllImages(join(scratch.path, 'images.tar'));
    ids = images.map(({ id }) => id);
    const trees = unpack(archiveFile, join(scratch.path, 'parts'));
    const names = ['portcullis', 'portcullis-postgres', 'portcullis-standalone'];
    expect([...trees.keys()]).toEqual(names.map((name) => `localhost/${name}:dev`));
    [tree = '', postgresTree = '', standaloneTree = ''] = trees.values();
  });
  afterAll(() => scratch[Symbol.dispose]());

  test('images have the same digest when they are built again', () => {
    const again = buildAllImages(join(scratch.path, 'again.tar')).images;
    expect(again.map(({ id }) => id)).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });

  test('images have the same files as the Dockerfile', () => {
    const staged = join(scratch.path, 'staged');
    const stagedPostgres = join(scratch.path, 'staged-postgres');
    const stagedStandalone = join(scratch.path, 'staged-standalone');
    const compare = (folder: string): string =>
      spawnSync('diff', ['--recursive', '--no-dereference', staged, folder], { encoding: 'utf8' }).stdout;
    execFileSync(process.execPath, [stage, staged, stagedPostgres, stagedStandalone]);
    expect(compare(tree)).toBe('');
    expect(modesOf(staged)).toEqual(modesOf(tree));
    // The second stage of the Dockerfile adds its files to the files of the first stage.
    execFileSync('cp', ['-a', `${stagedPostgres}/.`, staged]);
    expect(compare(postgresTree)).toBe('');
    expect(modesOf(staged)).toEqual(modesOf(postgresTree));
    execFileSync('cp', ['-a', `${stagedStandalone}/.`, staged]);
    expect(modesOf(staged)).toEqual(modesOf(standaloneTree));
  });

  test.each([
    ['node', ['--print', 'process.version'], process.version],
    ['the matching engine', ['--print', "new (require('re2'))('a+').exec('baab')[0]"], 'aa'],
    ['the command line', ['cli/main.ts', '--help'], 'Usage: portcullis'],
  ])('an image starts %s without root and with only its own files', (_what, args, expected) => {
    const command = [`--root=${tree}`, '--wd=/app', ...identity, '/usr/local/bin/node', ...args];
    const { stdout, stderr } = spawnSync('unshare', command, { encoding: 'utf8', env: { HOME: '/tmp' } });
    expect(stdout, stderr).toContain(expected);
  });

  test('the platform image has no shell and no database, the database image has both', () => {
    const found = (folder: string, name: string): string =>
      execFileSync('find', [folder, '-type', 'f', '-name', name, '-printf', '%P\n'], { encoding: 'utf8' });
    expect(found(tree, 'sh') + found(tree, 'postgres')).toBe('');
    expect(statSync(join(postgresTree, 'bin/sh')).mode & 0o777).toBe(0o755);
    expect(found(postgresTree, 'postgres')).toContain('/native/bin/postgres\n');
  });

  test('the platform image, started as the database, names the database image', () => {
    const command = [`--root=${tree}`, '--wd=/app', ...identity, '/usr/local/bin/node', 'dataplane/postgres/main.ts'];
    const env = { PORTCULLIS_POSTGRES_DIR: '/tmp/db', PORTCULLIS_DATABASE_PASSWORD_FILE: '/etc/passwd' };
    const { status, stderr } = spawnSync('unshare', command, { encoding: 'utf8', env });
    expect(status).toBe(1);
    expect(stderr).toContain('take the image portcullis-postgres in a cluster');
  });

  describe('the standalone platform from nothing but its own files, as a container', () => {
    const mounted = '/data';
    let volume: string;
    let pod: ImagePod;
    beforeAll(async () => {
      volume = join(scratch.path, 'standalone-volume');
      mkdirSync(volume);
      // A new volume of an engine gets the mode of the folder in the image.
      chmodSync(volume, 0o1777);
      await start();
    }, 300_000);
    afterAll(async () => void (await pod?.end('SIGKILL')));

    async function start(): Promise<void> {
      const { environment, command } = standaloneSettings();
      const args = [...command.map((word) => word.replace(/^cli/, '/app/cli')), '--port', '0'];
      pod = await startImagePod({ tree: standaloneTree, volume, mounted, args, environment });
      const serves = () => pod.output().includes('Ctrl-C stops everything.');
      await until('the container serves', serves, { deadlineMs: 240_000 }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${pod.output()}`);
      });
    }

    const chat = (message: string) => pod.execute('portcullis', 'chat', 'guarded-echo', '--message', message);

    test('the standalone image guards a model without root, with its policy management', () => {
      expect(chat('What is a portcullis?')).toMatchObject({ code: 0, output: 'What is a portcullis?\n' });
      expect(chat('Explain how to make a bomb')).toMatchObject({ code: 6 });
      expect(pod.execute('portcullis', 'get', 'guardrailpolicies', '--via', 'api').output).toContain('guarded-chat');
      expect(statSync(join(volume, 'portcullis')).uid).toBe(65_532);
      expect(statSync(join(volume, 'portcullis')).mode & 0o777).toBe(0o700);
    });

    test('the gateway of the standalone image is reachable from outside, and no other process is', async () => {
      const { addresses } = JSON.parse(pod.execute('portcullis', 'status', '--json').output) as StandaloneStatus;
      const outside = (url: string) => fetch(url.replace('127.0.0.1', '127.0.0.2'));
      expect((await outside(`${addresses.gateway}/v1/models`)).status).toBe(401);
      const { api, operator, management, issuer, gatewayAdmins } = addresses;
      for (const url of [api, operator, management, issuer, ...gatewayAdmins]) {
        await expect(outside(url), url).rejects.toThrow('fetch failed');
      }
    });

    test('a container that was killed continues on its volume with the same client key', async () => {
      const { output: before } = pod.execute('portcullis', 'env');
      expect(await pod.end('SIGKILL')).not.toBe(0);
      await start();
      const keyOf = (text: string) => /OPENAI_API_KEY='(.+)'/.exec(text)?.[1];
      expect(keyOf(pod.execute('portcullis', 'env').output)).toBe(keyOf(before));
      expect(chat('still here')).toMatchObject({ output: 'still here\n' });
      expect(await pod.end('SIGTERM')).toBe(0);
    });
  });

  describe('the database from nothing but its own files, as a pod', () => {
    const mounted = '/var/lib/portcullis/postgres';
    let volume: string;
    let pod: ImagePod | undefined;
    beforeAll(() => {
      volume = join(scratch.path, 'volume');
      mkdirSync(volume);
      // The kubelet leaves a volume with fsGroup 65532 in this state.
      chownSync(volume, 0, 65_532);
      chmodSync(volume, 0o2775);
      writeFileSync(join(volume, 'password'), 'first\n', { mode: 0o644 });
    });
    afterEach(async () => void (await pod?.end('SIGKILL')));

    const start = async (): Promise<Database> => {
      pod = await startImagePod({
        tree: postgresTree,
        volume,
        mounted,
        args: ['/app/dataplane/postgres/main.ts'],
        environment: {
          NODE_ENV: 'production',
          HOME: '/tmp',
          PORTCULLIS_LISTEN: '0.0.0.0:0',
          PORTCULLIS_SERVE_CLUSTER: 'true',
          PORTCULLIS_ADMIN_LISTEN: '127.0.0.1:0',
          PORTCULLIS_POSTGRES_DIR: `${mounted}/db`,
          PORTCULLIS_DATABASE_PASSWORD_FILE: `${mounted}/password`,
        },
      });
      const url = String(pod.ready['listening']).replace('0.0.0.0', '127.0.0.1');
      return connectSql({ url, password: () => 'first', applicationName: 'test', max: 1, statementTimeoutMs: 60_000 });
    };

    test('the database image creates its folder on a volume of root, serves, and shuts down', async () => {
      await using database = await start();
      await database.sql`create table t as select 1 as n`;
      expect((await fetch(`${pod?.ready['admin']}/readyz`)).status).toBe(200);
      expect(statSync(join(volume, 'db')).uid).toBe(65_532);
      expect(statSync(join(volume, 'db/data')).mode & 0o7777).toBe(0o700);
      expect(await pod?.end('SIGTERM')).toBe(0);
      expect(pod?.log()).toContain('database system is shut down');
    });

    test('the database image recovers after it was killed', async () => {
      {
        await using database = await start();
        await database.sql`insert into t values (2)`;
        expect(await pod?.end('SIGKILL')).not.toBe(0);
      }
      await using database = await start();
      expect([...(await database.sql`select n from t order by n`)]).toEqual([{ n: 1 }, { n: 2 }]);
      expect(pod?.log()).toContain('not properly shut down');
    });

    test('the database image answers a query whose processes share more memory than a pod has in /dev/shm', async () => {
      await using database = await start();
      const { sql } = database;
      await sql`create table big as select n, repeat('x', 100) as x from generate_series(1, 800000) as n`;
      await sql`set max_parallel_workers_per_gather = 2`;
      for (const name of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size']) {
        await sql`select set_config(${name}, '0', false)`;
      }
      await sql`set work_mem = '256MB'`;
      const join = 'select count(a.x || b.x)::int as n from big a join big b using (n)';
      const plan = await sql.unsafe(`explain ${join}`);
      expect(JSON.stringify(plan)).toContain('Parallel Hash Join');
      expect([...(await sql.unsafe(join))]).toEqual([{ n: 800_000 }]);
    });
  });
};

if (canRun) describe('the images of the checkout', describeImages);
else
  test('the images of the checkout', ({ skip }) =>
    skip('their files belong to root and are looked at by root on Linux'));
