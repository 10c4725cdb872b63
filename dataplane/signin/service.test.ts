import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVerifier } from '#identity/create-verifier';
import { until } from '#kit/testing/until';
import { startProcess } from '../../e2e/support/start-process.ts';
import { readConfig, settings } from './config.ts';

const redirectUri = 'http://127.0.0.1:9/sign-in/callback';
const verifier = 'v'.repeat(43);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-signin-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const environment = (): Record<string, string> => ({
  PORTCULLIS_SIGNING_KEYS_FILE: join(folder, 'keys.json'),
  PORTCULLIS_SIGN_IN_CODE_FILE: join(folder, 'code'),
  PORTCULLIS_PERSONS: 'ann,bob',
  PORTCULLIS_REDIRECT_URI: redirectUri,
});
const start = () => startProcess({ file: 'dataplane/signin/main.ts', environment: environment() });
const codeNow = (): string => readFileSync(join(folder, 'code'), 'utf8').trim();

const asked = {
  response_type: 'code',
  client_id: 'portcullis-console',
  redirect_uri: redirectUri,
  scope: 'openid',
  state: 'a state',
  nonce: 'a nonce',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

type Sent = { readonly status: number; readonly location: string | undefined; readonly body: string };

function send(
  url: string,
  path: string,
  options: {
    readonly form?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Sent> {
  const { form, headers = {} } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, url),
      { method: form === undefined ? 'GET' : 'POST', headers },
      (incoming) => {
        let body = '';
        incoming.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        incoming.on('end', () =>
          resolve({ status: incoming.statusCode ?? 0, location: incoming.headers.location, body }),
        );
      },
    );
    outgoing.on('error', reject);
    if (form !== undefined) outgoing.setHeader('content-type', 'application/x-www-form-urlencoded');
    outgoing.end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}

function signIn(url: string, change: Readonly<Record<string, string>> = {}, origin = url): Promise<Sent> {
  const form = { ...asked, person: 'ann', code_of_terminal: change['code_of_terminal'] ?? codeNow(), ...change };
  return send(url, '/authorize', { form, headers: { origin } });
}

const redeem = (url: string, code: string, change: Readonly<Record<string, string>> = {}) =>
  send(url, '/token', {
    form: {
      grant_type: 'authorization_code',
      code,
      client_id: 'portcullis-console',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...change,
    },
  });

const codeOf = ({ location = '' }: Sent): string => new URL(location).searchParams.get('code') ?? '';

test('a form that cannot be read is refused with 400', async () => {
  await using service = await start();
  const headers = { origin: service.url, 'content-type': 'multipart/form-data' };
  for (const [path, text] of [
    ['/authorize', 'The form cannot be read'],
    ['/token', '{"error":"invalid_request"}'],
  ] as const) {
    const answer = await fetch(new URL(path, service.url), { method: 'POST', body: 'x', headers });
    expect([answer.status, (await answer.text()).startsWith(text)]).toEqual([400, true]);
  }
});

test('a person with the code of the terminal signs in, and the token is one of the development issuer', async () => {
  await using running = await start();
  expect(statSync(join(folder, 'code')).mode & 0o777).toBe(0o600);
  const page = await send(running.url, `/authorize?${new URLSearchParams(asked)}`);
  expect(page.status).toBe(200);
  const back = await signIn(running.url);
  expect(back.status).toBe(303);
  expect(new URL(back.location ?? '').searchParams.get('state')).toBe('a state');
  const answer = JSON.parse((await redeem(running.url, codeOf(back))).body);
  const issuer = 'http://issuer.portcullis.localhost';
  const trusted = { issuer, audience: 'portcullis', jwks: new URL('/jwks.json', running.url) };
  const read = createVerifier({ issuers: [trusted] });
  expect(await read.verify(answer.access_token)).toMatchObject({ kind: 'identity', subject: 'ann' });
  expect(await read.verify(answer.id_token)).toMatchObject({ kind: 'refusal' });
  expect(JSON.parse(Buffer.from(answer.id_token.split('.')[1], 'base64url').toString())).toMatchObject({
    iss: running.url,
    aud: 'portcullis-console',
    nonce: 'a nonce',
  });
});

test('the page has the language that the console requests, else that of the browser, even after a wrong code', async () => {
  await using running = await start();
  const pageIn = async (query: Readonly<Record<string, string>>, accepted: string) => {
    const headers = { 'accept-language': accepted };
    return (await send(running.url, `/authorize?${new URLSearchParams({ ...asked, ...query })}`, { headers })).body;
  };
  expect(await pageIn({ ui_locales: 'ru' }, 'en')).toContain('<html lang="ru">');
  expect(await pageIn({ ui_locales: 'fr' }, 'ru-RU,en;q=0.5')).toMatch(/<html lang="ru">.*Войти/s);
  expect(await pageIn({ ui_locales: 'en' }, 'ru')).toMatch(/<html lang="en">.*Sign in/s);
  expect(await pageIn({}, 'fr')).toContain('<html lang="en">');
  const form = { ...asked, person: 'ann', code_of_terminal: 'WRONG' };
  const refused = await send(running.url, '/authorize?ui_locales=ru', { form, headers: { origin: running.url } });
  expect([refused.status, /role="alert".*не тот код/.test(refused.body)]).toEqual([403, true]);
});

test('a terminal code is accepted once, and ten wrong codes replace it', async () => {
  await using running = await start();
  const first = codeNow();
  expect((await signIn(running.url)).status).toBe(303);
  expect((await signIn(running.url, { code_of_terminal: first })).status).toBe(403);
  const second = codeNow();
  expect(second).not.toBe(first);
  for (let tries = 1; tries < 9; tries += 1) await signIn(running.url, { code_of_terminal: 'WRONG' });
  expect(codeNow()).toBe(second);
  await signIn(running.url, { code_of_terminal: 'WRONG' });
  expect(codeNow()).not.toBe(second);
  expect(running.log()).not.toContain(second);
});

test('an authorization code is redeemed once, by its client and with its verifier', async () => {
  await using running = await start();
  const refused = [{ code_verifier: 'w'.repeat(43) }, { client_id: 'other' }, { grant_type: 'password' }];
  for (const change of refused) {
    expect((await redeem(running.url, codeOf(await signIn(running.url)), change)).status).toBe(400);
  }
  const code = codeOf(await signIn(running.url));
  expect((await redeem(running.url, code)).status).toBe(200);
  expect((await redeem(running.url, code)).status).toBe(400);
});

test('a request of another host, origin or address, or without PKCE, is refused', async () => {
  await using running = await start();
  expect((await send(running.url, '/jwks.json', { headers: { host: 'evil.example' } })).status).toBe(421);
  expect((await signIn(running.url, {}, 'http://evil.example')).status).toBe(403);
  const changes: readonly Readonly<Record<string, string>>[] = [
    { redirect_uri: 'http://evil.example/' },
    { code_challenge_method: 'plain' },
    { code_challenge: '' },
    { state: '' },
    { nonce: '' },
    { response_type: 'token' },
  ];
  for (const change of changes) {
    const sent = await signIn(running.url, change);
    expect([change, sent.status, sent.location]).toEqual([change, 400, undefined]);
  }
  expect((await signIn(running.url, { person: 'root' })).status).toBe(403);
  const keys = JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8')).keys;
  expect((await send(running.url, '/jwks.json')).body).not.toContain(keys[0].d);
});

test('a sign-in whose next code cannot be written is answered with an error, without a stack in answer or log', async () => {
  await using running = await start();
  const code = codeNow();
  rmSync(join(folder, 'code'));
  mkdirSync(join(folder, 'code'));
  const sent = await signIn(running.url, { code_of_terminal: code });
  expect([sent.status, sent.location]).toEqual([500, undefined]);
  await until('the failure is logged', () => running.log().includes('"event":"request_failed"'));
  expect(sent.body + running.log()).not.toMatch(/^ +at /m);
  const large = await signIn(running.url, { person: 'p'.repeat(20_000), code_of_terminal: code });
  expect(large.status).toBe(413);
});

describe('settings of the sign-in', () => {
  test.each(['0.0.0.0:0', '192.0.2.1:80'])('the sign-in does not listen on %s', (listen) => {
    const problem = 'PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]';
    expect(() => readConfig({ ...environment(), PORTCULLIS_LISTEN: listen })).toThrow(problem);
  });

  test('a session lasts eight hours unless the settings say otherwise', () => {
    expect(readConfig(environment()).sessionSeconds).toBe(28_800);
    expect(() => readConfig({ ...environment(), PORTCULLIS_SESSION_SECONDS: '0' })).toThrow(
      'PORTCULLIS_SESSION_SECONDS',
    );
    expect(Object.keys(settings)).toContain('PORTCULLIS_PERSONS');
  });
});
