import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { ConfigError } from '#kit/env/config-error';
import { readEnvironmentFiles } from './read-environment-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-environment-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function read(providers: string | undefined, limits: string | undefined) {
  const files = { providers: join(folder, 'providers.yaml'), limits: join(folder, 'limits.yaml') };
  for (const file of Object.values(files)) await rm(file, { force: true });
  if (providers !== undefined) await writeFile(files.providers, providers);
  if (limits !== undefined) await writeFile(files.limits, limits);
  return readEnvironmentFiles(files);
}

async function problems(providers: string | undefined, limits: string | undefined): Promise<readonly string[]> {
  const error: unknown = await read(providers, limits).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ConfigError ? error.problems : [];
}

const echo = '{ name: echo, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }';

test('without files no provider is approved, and limits are those of the contract', async () => {
  expect(await read(undefined, undefined)).toEqual({ approved: [], limits: defaultBundleLimits, connections: [] });
});

test('approved providers and limits are read, and absent limits keep their defaults', async () => {
  const found = await read(`providers: [${echo}]`, 'maxBodyBytes: 131072');
  expect(found.approved).toMatchObject([{ name: 'echo', kind: 'model' }]);
  expect(found.limits).toEqual({ ...defaultBundleLimits, maxBodyBytes: 131_072 });
});

test.each([
  ['maxBodyBytes', 256, 131_072],
  ['maxMessages', 1, 64],
  ['maxMatches', 1, 1_024],
  ['maxConcurrency', 1, 256],
  ['queueSize', 0, 0],
])('the limit %s is accepted from %d to %d and refused outside', async (name, min, max) => {
  expect((await read(undefined, `${name}: ${min}`)).limits).toMatchObject({ [name]: min });
  expect((await read(undefined, `${name}: ${max}`)).limits).toMatchObject({ [name]: max });
  for (const wrong of [min - 1, max + 1]) {
    expect(await problems(undefined, `${name}: ${wrong}`)).toEqual([
      expect.stringContaining(`limits.yaml: ${name} must be `),
    ]);
  }
});

test('all problems of environment files are reported together, each with file and field', async () => {
  const found = await problems(
    `providers: [{ name: a, kind: model, endpoint: "ftp://x", enabled: yes }]`,
    'unknown: 1',
  );
  expect(found.length).toBeGreaterThan(1);
  expect(found[0]).toContain('providers.yaml: providers[0].endpoint ');
  expect(found.at(-1)).toContain('limits.yaml');
});

test('a repeated name, a repeated key and invalid YAML in an environment file are refused', async () => {
  expect(await problems(`providers: [${echo}, ${echo}]`, undefined)).toEqual([
    expect.stringContaining('echo is listed twice'),
  ]);
  expect(await problems(undefined, 'maxMessages: 1\nmaxMessages: 2')).toEqual([
    expect.stringContaining('limits.yaml is not valid YAML'),
  ]);
  const secret = await problems('providers: [\n  { secret-key-material', undefined);
  expect(secret).toEqual([expect.stringContaining('providers.yaml is not valid YAML')]);
  expect(secret.join()).not.toContain('secret-key-material');
});
