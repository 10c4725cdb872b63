import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { createLogger } from '#kit/log/logger';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { followProfiles, readProfiles } from './approved-profiles.ts';

async function readText(text: string): Promise<unknown> {
  using folder = temporaryFolder();
  const path = join(folder.path, 'models.yaml');
  await writeFile(path, text);
  return await readProfiles(path).catch((error: unknown) =>
    error instanceof ConfigError ? error.problems.join('; ') : error,
  );
}

test('profiles are read with their defaults', async () => {
  const text =
    'embedding: [{ id: a, model: m, dimension: 8192 }]\nrerank: [{ id: b, model: m }]\nrewrite: [{ id: c, model: m }]';
  expect(await readText(text)).toEqual({
    embedding: new Map([
      [
        'a',
        {
          id: 'a',
          model: 'm',
          dimension: 8_192,
          sendDimension: false,
          batch: 64,
          maxTokens: 512,
          queryPrefix: '',
          passagePrefix: '',
        },
      ],
    ]),
    rerank: new Map([['b', { id: 'b', model: 'm', maxDocuments: 100 }]]),
    rewrite: new Map([['c', { id: 'c', model: 'm', timeoutMs: 2_000 }]]),
  });
});

test('without a file of profiles, or with an empty file, no profile is approved', async () => {
  const none = { embedding: new Map(), rerank: new Map(), rewrite: new Map() };
  expect(await readProfiles('/nowhere/models.yaml')).toEqual(none);
  expect(await readText('')).toEqual(none);
});

test.each([
  [
    'an unknown field',
    'embedding: [{ id: a, model: m, dimension: 3, apiKey: secret }]',
    'embedding[0].apiKey is an unknown field',
  ],
  ['a profile twice', 'rerank: [{ id: a, model: m }, { id: a, model: n }]', 'the rerank profile a is listed twice'],
  ['no dimension', 'embedding: [{ id: a, model: m }]', 'embedding[0].dimension is required'],
  ['a dimension above the limit', 'embedding: [{ id: a, model: m, dimension: 8193 }]', 'must be at most 8192'],
  ['a batch above the limit', 'embedding: [{ id: a, model: m, dimension: 3, batch: 2049 }]', 'must be at most 2048'],
  ['a time above the limit', 'rewrite: [{ id: a, model: m, timeoutMs: 60001 }]', 'must be at most 60000'],
  ['a malformed id', 'rewrite: [{ id: "a b", model: m }]', 'rewrite[0].id must have only letters'],
  ['broken YAML', 'rewrite: [', 'is not valid YAML (line 1)'],
])('a file of profiles with %s is refused with its place', async (_, text, problem) => {
  const found = await readText(text);
  expect(found).toContain(problem);
  expect(found).not.toContain('secret');
});

test('profiles are read again when their file changes, and an invalid or missing file changes nothing', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'models.yaml');
  const refused: string[] = [];
  await writeFile(path, 'rewrite: [{ id: first, model: m }]');
  await using profiles = await followProfiles({
    path,
    everyMs: 5,
    logger: createLogger({ service: 'profiles', level: 'error' }),
    onRead: (problems) => void refused.push(...problems),
  });
  // A reader may see a file that is being written as an empty file, which approves no profile.
  const replace = async (text: string): Promise<void> => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  const ids = (): readonly string[] => [...profiles.current().rewrite.keys()];
  expect(ids()).toEqual(['first']);
  await replace('rewrite: [{ id: second, model: m }]');
  await until('the change is read', () => ids().includes('second'));
  await replace('rewrite: 5');
  await until('the broken file is refused', () => refused.some((problem) => problem.includes('must be a list')));
  await rm(path);
  await until('the missing file is refused', () => refused.some((problem) => problem.includes('is missing')));
  expect(ids()).toEqual(['second']);
});
