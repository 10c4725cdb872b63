import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVerifier } from '#identity/create-verifier';
import { mintToken } from '#identity/mint-token';
import { rotateSigningKeys } from '#identity/signing-keys';
import { startProcess } from '../../e2e/support/start-process.ts';
import { readConfig } from './config.ts';

let folder: string;
let keyFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-issuer-'));
  keyFile = join(folder, 'keys.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const issuer = 'http://issuer.portcullis.localhost';
const start = () =>
  startProcess({ file: 'dataplane/issuer/main.ts', environment: { PORTCULLIS_SIGNING_KEYS_FILE: keyFile } });

function ask(url: string, method: string, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url), { method, path }, (incoming) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject).end();
  });
}

test('the development issuer publishes the keys of its tokens across restarts and rotations', async () => {
  const mint = () => mintToken({ keyFile, issuer, subject: 'ann', audience: 'portcullis', ttlSeconds: 60 });
  const verify = (url: string, token: string) =>
    createVerifier({ issuers: [{ issuer, audience: 'portcullis', jwks: new URL('/jwks.json', url) }] }).verify(token);
  let token: string;
  {
    await using running = await start();
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    token = await mint();
    expect(await verify(running.url, token)).toMatchObject({ kind: 'identity', subject: 'ann' });
    const configuration = JSON.parse((await ask(running.url, 'GET', '/.well-known/openid-configuration')).body);
    expect(configuration).toMatchObject({ issuer, jwks_uri: `${running.url}/jwks.json` });
  }
  await using again = await start();
  expect(await verify(again.url, token)).toMatchObject({ kind: 'identity' });
  const { kid } = await rotateSigningKeys(keyFile, { now: new Date(), revoke: false });
  const published = JSON.parse((await ask(again.url, 'GET', '/jwks.json')).body);
  expect(published.keys.map((key: { kid: string }) => key.kid)).toEqual([kid, expect.any(String)]);
  for (const one of [token, await mint()]) expect(await verify(again.url, one)).toMatchObject({ kind: 'identity' });
  expect(again.log()).toBe('');
});

test('the development issuer returns no private key and has no path that signs', async () => {
  await using running = await start();
  const { keys } = JSON.parse(readFileSync(keyFile, 'utf8')) as { keys: readonly { d: string }[] };
  const answers = [
    await ask(running.url, 'GET', '/jwks.json'),
    await ask(running.url, 'GET', '/.well-known/openid-configuration'),
    ...(await Promise.all(
      [
        ['POST', '/token'],
        ['POST', '/jwks.json'],
        ['GET', '/keys.json'],
        ['GET', '/../keys.json'],
        ['GET', '/jwks.json?x=1'],
        ['GET', '/'],
      ].map(([method, path]) => ask(running.url, method as string, path as string)),
    )),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404, 404, 404, 404]);
  for (const { body } of answers) expect(body).not.toContain(keys[0]?.d);
});

test('an invalid key file is answered with 503, and is read again when it is corrected', async () => {
  await using running = await start();
  const whole = readFileSync(keyFile);
  writeFileSync(keyFile, '{');
  expect(await ask(running.url, 'GET', '/jwks.json')).toMatchObject({ status: 503 });
  writeFileSync(keyFile, whole);
  expect(await ask(running.url, 'GET', '/jwks.json')).toMatchObject({ status: 200 });
});

test('the development issuer does not start with an invalid key file', async () => {
  writeFileSync(keyFile, '{"keys":[]}');
  await expect(start()).rejects.toThrow('holds no signing keys: move it away');
});

describe('settings', () => {
  test.each(['0.0.0.0:0', 'localhost:0', '192.0.2.1:80'])('the development issuer does not listen on %s', (listen) => {
    const env = { PORTCULLIS_LISTEN: listen, PORTCULLIS_SIGNING_KEYS_FILE: '/tmp/a' };
    expect(() => readConfig(env)).toThrow('PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]');
  });

  test.each(['127.0.0.1:0', '[::1]:80'])('the development issuer listens on %s', (listen) => {
    expect(() => readConfig({ PORTCULLIS_LISTEN: listen, PORTCULLIS_SIGNING_KEYS_FILE: '/tmp/a' })).not.toThrow();
  });
});
