import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig, readCookieKey, settings } from './config.ts';
import { servicesForPersons } from './setup/console-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'portcullis-console-'));
afterAll(() => rmSync(folder, { recursive: true }));

function keyFile(bytes: number): string {
  const path = join(folder, `key-${bytes}`);
  writeFileSync(path, Buffer.alloc(bytes, 7).toString('base64url'));
  return path;
}

const env = {
  PORTCULLIS_COOKIE_KEY_FILE: keyFile(32),
  PORTCULLIS_OIDC_ISSUER_URL: 'https://login.example/realm',
  PORTCULLIS_MANAGEMENT_URL: 'http://portcullis-management',
  PORTCULLIS_IDENTITY: 'production',
};

describe('settings of the console', () => {
  test('without URLs of further services the console has only the pages of policies', () => {
    const { config } = readConfig(env);
    expect(config.services).toMatchObject({ retrieval: undefined, memory: undefined, gateway: undefined });
    expect(Object.keys(settings)).toContain('PORTCULLIS_RETRIEVAL_URL');
  });

  test.each([
    ['PORTCULLIS_CONSOLE_URL', 'http://console.example'],
    ['PORTCULLIS_OIDC_ISSUER_URL', 'http://login.example'],
  ])('%s must be https outside of this machine', (name, value) => {
    expect(() => readConfig({ ...env, [name]: value })).toThrow(`${name} is ${value} but must be an https URL`);
    expect(() => readConfig({ ...env, [name]: value.replace('http:', 'https:') })).not.toThrow();
    expect(() => readConfig({ ...env, [name]: 'http://127.0.0.1:8090' })).not.toThrow();
  });

  test('production mode offers no view of another person', () => {
    expect(() => readConfig({ ...env, PORTCULLIS_PERSONS: 'bob' })).toThrow('PORTCULLIS_PERSONS is set');
    const { config } = readConfig({ ...env, PORTCULLIS_PERSONS: 'bob,eve', PORTCULLIS_IDENTITY: 'development' });
    expect(config.persons).toEqual(['bob', 'eve']);
  });

  test('pages of retrieval and memory require tokens with an act chain in production, and no token in development', () => {
    const urls = { PORTCULLIS_RETRIEVAL_URL: 'http://retrieval', PORTCULLIS_MEMORY_URL: 'http://memory' };
    const shown = (more: NodeJS.ProcessEnv) => {
      const { retrieval, memory } = servicesForPersons(readConfig({ ...env, ...urls, ...more }).config);
      return [retrieval?.hostname, memory?.hostname];
    };
    expect(shown({})).toEqual([undefined, undefined]);
    expect(shown({ PORTCULLIS_ACT_CHAIN: 'absent' })).toEqual([undefined, undefined]);
    expect(shown({ PORTCULLIS_ACT_CHAIN: 'present' })).toEqual(['retrieval', 'memory']);
    const development = { PORTCULLIS_IDENTITY: 'development' };
    expect(shown(development)).toEqual(['retrieval', 'memory']);
    expect(() => shown({ ...development, PORTCULLIS_ACT_CHAIN: 'present' })).toThrow('PORTCULLIS_ACT_CHAIN is present');
    expect(() => shown({ PORTCULLIS_ACT_CHAIN: 'maybe' })).toThrow('PORTCULLIS_ACT_CHAIN');
  });

  test.each([31, 33])('a cookie key of %i bytes is refused, and a cookie key of 32 bytes is accepted', (bytes) => {
    expect(() => readCookieKey(keyFile(bytes))).toThrow(`holds ${bytes} bytes`);
    expect(readCookieKey(keyFile(32))).toHaveLength(32);
  });
});
