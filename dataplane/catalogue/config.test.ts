import { describe, expect, test } from 'vitest';
import { readConfig, settings } from './config.ts';

const file = new URL('./config.ts', import.meta.url).pathname;
const env = {
  PORTCULLIS_IDENTITY: 'development',
  PORTCULLIS_DATABASE_URL: 'postgres://me@localhost:5432/portcullis',
  PORTCULLIS_DATABASE_PASSWORD_FILE: file,
  PORTCULLIS_API_URL: 'https://api.example',
  PORTCULLIS_API_TOKEN_FILE: file,
  PORTCULLIS_CURSOR_KEY_FILE: file,
  PORTCULLIS_MODEL_GATEWAY_URL: 'http://gateway:8080',
  PORTCULLIS_MODELS_FILE: '/etc/portcullis/models.yaml',
};

describe('settings of the catalogue', () => {
  test('the catalogue in development mode listens on this machine only', () => {
    const everywhere = { ...env, PORTCULLIS_LISTEN: '0.0.0.0:8080' };
    expect(() => readConfig(everywhere)).toThrow('PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]');
    const production = { PORTCULLIS_IDENTITY: 'production', PORTCULLIS_ISSUERS_FILE: file };
    expect(readConfig({ ...everywhere, ...production }).config.listen).toEqual({ host: '0.0.0.0', port: 8080 });
  });

  test('by default one process has both roles, rights are stored in PostgreSQL, and mass removals are paused', () => {
    expect(readConfig(env).config).toMatchObject({
      role: 'both',
      identity: { mode: 'development' },
      relations: { kind: 'postgres' },
      massRemoval: 'pause',
      api: { namespace: 'default' },
    });
  });

  test('production mode requires issuers, and OpenFGA requires its URL', () => {
    expect(() => readConfig({ ...env, PORTCULLIS_IDENTITY: 'production' })).toThrow('PORTCULLIS_ISSUERS_FILE');
    expect(() => readConfig({ ...env, PORTCULLIS_RELATIONS: 'openfga' })).toThrow('PORTCULLIS_OPENFGA_URL');
  });

  test('a process that only answers requests needs no access to the resources, and every other process needs it', () => {
    const { PORTCULLIS_API_URL: _url, PORTCULLIS_API_TOKEN_FILE: _token, ...without } = env;
    expect(readConfig({ ...without, PORTCULLIS_ROLE: 'api' }).config.api).toBeUndefined();
    expect(readConfig({ ...env, PORTCULLIS_ROLE: 'api' }).config.api).toBeUndefined();
    for (const role of ['worker', 'both']) {
      const read = () => readConfig({ ...without, PORTCULLIS_ROLE: role });
      expect(read).toThrow(/PORTCULLIS_API_URL is missing[\s\S]*PORTCULLIS_API_TOKEN_FILE is missing/);
    }
  });

  test('the policy for the texts of cards needs the token of its runtimes, and the token needs a policy', () => {
    expect(readConfig(env).config.guard).toBe('unguarded');
    const [target, token] = [{ PORTCULLIS_GUARD_TARGET_FILE: file }, { PORTCULLIS_RUNTIME_TOKEN_FILE: file }];
    expect(() => readConfig({ ...env, ...target })).toThrow('PORTCULLIS_RUNTIME_TOKEN_FILE is missing');
    expect(() => readConfig({ ...env, ...token })).toThrow('PORTCULLIS_GUARD_TARGET_FILE is missing');
    expect(readConfig({ ...env, ...target, ...token }).config.guard).toEqual({ targetFile: file, tokenFile: file });
  });

  test('a webhook for events requires a secret, and a secret requires a webhook', () => {
    const url = 'https://hooks.example/agents';
    expect(() => readConfig({ ...env, PORTCULLIS_EVENTS_URL: url })).toThrow('must be set together');
    expect(() => readConfig({ ...env, PORTCULLIS_EVENTS_SECRET_FILE: file })).toThrow('must be set together');
    const both = { ...env, PORTCULLIS_EVENTS_URL: url, PORTCULLIS_EVENTS_SECRET_FILE: file };
    expect(readConfig(both).config.events).toMatchObject({ kind: 'webhook', source: '/portcullis/catalogue' });
  });

  test('events go to NATS instead of a webhook, and the address of NATS contains no user', () => {
    const nats = { ...env, PORTCULLIS_EVENTS_NATS_URL: 'tls://nats:4222' };
    expect(readConfig(nats).config.events).toMatchObject({
      kind: 'nats',
      nats: { servers: ['tls://nats:4222'], stream: 'portcullis-agents' },
    });
    const webhook = { PORTCULLIS_EVENTS_URL: 'https://hooks.example', PORTCULLIS_EVENTS_SECRET_FILE: file };
    expect(() => readConfig({ ...nats, ...webhook })).toThrow('two receivers');
    expect(() => readConfig({ ...env, PORTCULLIS_EVENTS_NATS_URL: 'nats://user:hunter2@nats:4222' })).toThrow(
      /without a user$/,
    );
    expect(() => readConfig({ ...nats, PORTCULLIS_EVENTS_NATS_STREAM: 'a.b' })).toThrow(
      'PORTCULLIS_EVENTS_NATS_STREAM',
    );
  });

  test('every problem of the catalogue settings is reported together', () => {
    expect(() => readConfig({})).toThrow(/PORTCULLIS_IDENTITY[\s\S]*PORTCULLIS_CURSOR_KEY_FILE/);
    expect(Object.keys(settings)).toContain('PORTCULLIS_MASS_REMOVAL');
  });
});
