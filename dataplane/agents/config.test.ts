import { expect, test } from 'vitest';
import { readConfig, settings } from './config.ts';

const file = import.meta.filename;
const development = { PORTCULLIS_AGENT_BUNDLE: 'agent.json', PORTCULLIS_IDENTITY: 'development' };
const keys = { PORTCULLIS_GATEWAY_ISSUER: 'https://gateway.example', PORTCULLIS_GATEWAY_KEYS_FILE: file };

test('the agent process reads the settings of its identity mode and ignores those of the other mode', () => {
  expect(readConfig(development).config.identity).toEqual({ mode: 'development' });
  expect(readConfig({ ...development, ...keys, PORTCULLIS_IDENTITY: 'production' }).config.identity).toEqual({
    mode: 'production',
    issuer: 'https://gateway.example',
    keys: { file },
  });
  expect(() => readConfig({ ...development, ...keys })).toThrow('in development mode no token is verified');
  expect(() => readConfig({ ...development, PORTCULLIS_IDENTITY: 'production' })).toThrow('must be set');
  expect(() => readConfig({})).toThrow('PORTCULLIS_AGENT_BUNDLE');
});

test('an agent process without a key file uses the keys that the agent gateway publishes', () => {
  const { PORTCULLIS_GATEWAY_ISSUER } = keys;
  const gateway = { PORTCULLIS_AGENT_GATEWAY_URL: 'https://gateway.example/under/' };
  const production = { ...development, PORTCULLIS_IDENTITY: 'production', PORTCULLIS_GATEWAY_ISSUER };
  expect(readConfig({ ...production, ...gateway }).config.identity).toEqual({
    mode: 'production',
    issuer: 'https://gateway.example',
    keys: new URL('https://gateway.example/under/.well-known/jwks.json'),
  });
  expect(() => readConfig(production)).toThrow('PORTCULLIS_AGENT_GATEWAY_URL');
});

test('the confirmer of an MCP call is named together with its issuer', () => {
  const named = (names: string) =>
    readConfig({ ...development, PORTCULLIS_MCP_CONFIRMERS: names }).config.mcpConfirmers;
  expect(named('https://people.example|ann,https://people.example|bob')).toHaveLength(2);
  for (const names of ['ann', '|ann', 'https://people.example|', 'https://people.example|ann,bob']) {
    expect(() => named(names)).toThrow('issuer|subject');
  }
});

test('a folder of policies requires the token of their runtimes', () => {
  const policies = { ...development, PORTCULLIS_POLICY_TARGETS_DIR: 'targets' };
  expect(() => readConfig(policies)).toThrow('PORTCULLIS_RUNTIME_TOKEN_FILE is missing');
  expect(readConfig({ ...policies, PORTCULLIS_RUNTIME_TOKEN_FILE: file }).secrets.runtimeTokenFile).toBe(file);
});

test('every setting has a description', () => {
  for (const one of Object.values(settings)) expect(one.help).not.toBe('');
});
