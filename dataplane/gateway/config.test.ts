import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '#kit/env/read-environment';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { readConfig } from './config.ts';

function environment(folder: string): Record<string, string> {
  const file = join(folder, 'token');
  writeFileSync(file, 'token\n');
  return {
    PORTCULLIS_API_URL: 'http://127.0.0.1:1',
    PORTCULLIS_API_TOKEN_FILE: file,
    PORTCULLIS_REPLICA: 'gateway-1',
    PORTCULLIS_CLIENT_KEYS_FILE: file,
    PORTCULLIS_RUNTIME_TOKEN_FILE: file,
    PORTCULLIS_SECRETS_DIR: folder,
  };
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('protective gateway settings have no default except the strict value', () => {
  using folder = temporaryFolder();
  const env = environment(folder.path);
  const { config } = readConfig(env);
  expect(config.clients).toEqual({ auth: 'keys', keysFile: env['PORTCULLIS_CLIENT_KEYS_FILE'] });
  expect(config).toMatchObject({
    gateway: 'default',
    maxRequestMs: 900_000,
    streamIdleMs: 60_000,
    maxChecksPerAddress: 32,
  });
  const { PORTCULLIS_CLIENT_KEYS_FILE: _, ...keyless } = env;
  expect(problemsOf(keyless)).toEqual([
    'PORTCULLIS_CLIENT_KEYS_FILE is missing: it must be set unless PORTCULLIS_CLIENT_AUTH is open',
  ]);
  expect(readConfig({ ...keyless, PORTCULLIS_CLIENT_AUTH: 'open' }).config.clients).toEqual({ auth: 'open' });
});

test('tokens of agents need an issuer and its keys, and clients that are authenticated', () => {
  using folder = temporaryFolder();
  const env = environment(folder.path);
  const keysFile = env['PORTCULLIS_CLIENT_KEYS_FILE'] ?? '';
  const agents = { PORTCULLIS_AGENT_ISSUER: 'https://gateway.example', PORTCULLIS_AGENT_KEYS_FILE: keysFile };
  expect(readConfig({ ...env, ...agents }).config.clients).toMatchObject({
    auth: 'keys',
    agents: { issuer: 'https://gateway.example', keysFile },
  });
  for (const [name, value] of Object.entries(agents)) {
    expect(problemsOf({ ...env, [name]: value })).toEqual([expect.stringContaining('must be set together')]);
  }
  expect(problemsOf({ ...env, ...agents, PORTCULLIS_CLIENT_AUTH: 'open' })).toEqual([
    expect.stringContaining('remove one of the two'),
  ]);
});

test.each([
  ['PORTCULLIS_MAX_CHECKS_PER_ADDRESS', 1, 4_096],
  ['PORTCULLIS_MAX_STREAM_SECONDS', 1, 86_400],
  ['PORTCULLIS_STREAM_IDLE_SECONDS', 1, 3_600],
])('the gateway setting %s accepts %i to %i', (name, least, most) => {
  using folder = temporaryFolder();
  const env = environment(folder.path);
  for (const value of [least, most]) expect(problemsOf({ ...env, [name]: String(value) })).toEqual([]);
  for (const value of [least - 1, most + 1]) {
    expect(problemsOf({ ...env, [name]: String(value) })).toEqual([expect.stringContaining(name)]);
  }
});

test('every problem of the gateway settings is reported together', () => {
  const problems = problemsOf({ PORTCULLIS_CLIENT_AUTH: 'none', PORTCULLIS_MAX_STREAM_SECONDS: '0' });
  for (const name of [
    'API_URL',
    'API_TOKEN_FILE',
    'REPLICA',
    'CLIENT_AUTH',
    'RUNTIME_TOKEN_FILE',
    'MAX_STREAM_SECONDS',
  ]) {
    expect(problems.some((problem) => problem.startsWith(`PORTCULLIS_${name} `))).toBe(true);
  }
});
