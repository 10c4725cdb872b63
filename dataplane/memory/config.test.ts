import { describe, expect, test } from 'vitest';
import { readConfig, settings } from './config.ts';

const password = new URL('./config.ts', import.meta.url).pathname;
const env = {
  PORTCULLIS_IDENTITY: 'development',
  PORTCULLIS_DATABASE_URL: 'postgres://me@localhost:5432/portcullis',
  PORTCULLIS_DATABASE_PASSWORD_FILE: password,
  PORTCULLIS_MODEL_GATEWAY_URL: 'http://gateway:8080',
  PORTCULLIS_MODELS_FILE: '/etc/portcullis/models.yaml',
};

describe('settings of the memory service', () => {
  test('by default, one process has both roles and memories are found by words', () => {
    const { config } = readConfig(env);
    expect(config).toMatchObject({ role: 'both', identity: { mode: 'development' }, embeddingProfile: undefined });
    expect(config.indexBytes).toBe(96 * 1_048_576);
  });

  test('production mode requires issuers, and development mode accepts them for the tokens of agents', () => {
    expect(() => readConfig({ ...env, PORTCULLIS_IDENTITY: 'production' })).toThrow('PORTCULLIS_ISSUERS_FILE');
    expect(readConfig(env).config.identity).toEqual({ mode: 'development' });
    expect(readConfig({ ...env, PORTCULLIS_ISSUERS_FILE: password }).config.identity).toEqual({
      mode: 'development',
      issuersFile: password,
    });
  });

  test('development mode listens on this machine only', () => {
    const everywhere = { ...env, PORTCULLIS_LISTEN: '0.0.0.0:8080' };
    expect(() => readConfig(everywhere)).toThrow('PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]');
    const production = { PORTCULLIS_IDENTITY: 'production', PORTCULLIS_ISSUERS_FILE: password };
    expect(readConfig({ ...everywhere, ...production }).config.listen).toEqual({ host: '0.0.0.0', port: 8080 });
  });

  test('the guardrail has a target and a token, or neither', () => {
    expect(readConfig(env).config.guard).toBe('unguarded');
    const both = { PORTCULLIS_GUARD_TARGET_FILE: '/run/target.json', PORTCULLIS_RUNTIME_TOKEN_FILE: password };
    expect(readConfig({ ...env, ...both }).config.guard).toEqual({
      targetFile: '/run/target.json',
      tokenFile: password,
    });
    const { PORTCULLIS_GUARD_TARGET_FILE, PORTCULLIS_RUNTIME_TOKEN_FILE } = both;
    expect(() => readConfig({ ...env, PORTCULLIS_GUARD_TARGET_FILE })).toThrow('PORTCULLIS_RUNTIME_TOKEN_FILE');
    expect(() => readConfig({ ...env, PORTCULLIS_RUNTIME_TOKEN_FILE })).toThrow('PORTCULLIS_GUARD_TARGET_FILE');
  });

  test.each([
    ['PORTCULLIS_USER_MEMORIES', 'userMemories', 100_000, 1_000_000],
    ['PORTCULLIS_TENANT_USERS', 'tenantUsers', 1_000_000, 1_000_000_000],
    ['PORTCULLIS_TENANT_OPEN_EVENTS', 'tenantOpenEvents', 10_000, 10_000_000],
  ] as const)('the quota %s has a default and a lower and an upper limit', (name, member, usual, most) => {
    const quotaOf = (value?: number) =>
      readConfig(value === undefined ? env : { ...env, [name]: String(value) }).config.quota[member];
    expect([quotaOf(), quotaOf(1), quotaOf(most)]).toEqual([usual, 1, most]);
    expect(() => quotaOf(0)).toThrow(name);
    expect(() => quotaOf(most + 1)).toThrow(name);
  });

  test('every problem of the memory settings is reported together', () => {
    expect(() => readConfig({})).toThrow(/PORTCULLIS_IDENTITY[\s\S]*PORTCULLIS_MODELS_FILE/);
    expect(() => readConfig({ ...env, PORTCULLIS_INDEX_MIB: '15' })).toThrow('PORTCULLIS_INDEX_MIB');
    expect(Object.keys(settings)).toContain('PORTCULLIS_EXTRACTION_MODEL');
  });
});
