import { expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { readConfig } from './config.ts';

const base = { PORTCULLIS_DATA_DIR: '/data' };

test('the data directory is all that must be said', () => {
  expect(readConfig(base)).toEqual({
    dataDirectory: '/data',
    apiListen: { host: '127.0.0.1', port: 0 },
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'default',
    progressDeadlineMs: 600_000,
    maxStreamMs: 900_000,
    build: undefined,
  });
});

test.each([
  ['PORTCULLIS_PROGRESS_DEADLINE_SECONDS', 'progressDeadlineMs'],
  ['PORTCULLIS_MAX_STREAM_SECONDS', 'maxStreamMs'],
] as const)('%s goes from 1 second to a day', (name, member) => {
  expect(readConfig({ ...base, [name]: '1' })[member]).toBe(1_000);
  expect(readConfig({ ...base, [name]: '86400' })[member]).toBe(86_400_000);
  for (const wrong of ['0', '86401', '1.5', '']) expect(() => readConfig({ ...base, [name]: wrong })).toThrow(name);
});

test('every problem is told at once', () => {
  const problems = (() => {
    try {
      readConfig({ PORTCULLIS_LISTEN: 'here', PORTCULLIS_NAMESPACE: '' });
    } catch (error) {
      return error instanceof ConfigError ? error.problems : [];
    }
    return [];
  })();
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'PORTCULLIS_DATA_DIR',
    'PORTCULLIS_LISTEN',
    'PORTCULLIS_NAMESPACE',
  ]);
});
