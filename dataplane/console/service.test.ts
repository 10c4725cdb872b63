import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCookies } from './sessions/cookies.ts';
import { createConsoleService } from './service.ts';

const key = Buffer.alloc(32, 7);
/** A port that no service of this machine listens on. */
const nowhere = new URL('http://127.0.0.1:9');
const csrf = 'c'.repeat(32);
let service: Awaited<ReturnType<typeof createConsoleService>>;
let cookie: string;

beforeAll(async () => {
  const free = { host: '127.0.0.1', port: 0 };
  const oidc = { issuer: nowhere, clientId: 'c', clientSecretFile: undefined, scope: 'openid', resource: undefined };
  const services = { management: nowhere, retrieval: undefined, memory: undefined, gateway: undefined };
  service = await createConsoleService(
    {
      listen: free,
      adminListen: free,
      origin: undefined,
      oidc,
      services,
      tenant: 'default',
      identity: 'development',
      persons: [],
      logLevel: 'error',
    },
    key,
  );
  const session = { subject: 'ann', token: 'none', csrf, administers: true };
  const kept = await createCookies(key, service.url).keep({
    ...session,
    expiresAt: Math.floor(Date.now() / 1_000) + 600,
  });
  cookie = kept.map((one) => one.split(';')[0]).join('; ');
});
afterAll(() => service[Symbol.asyncDispose]());

type Sent = { readonly status: number; readonly headers: Headers; readonly body: string };

async function send(path: string, init: RequestInit = {}): Promise<Sent> {
  const answer = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

const post = (path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  send(path, { method: 'POST', body: new URLSearchParams(form), headers: { origin: service.url, ...headers } });

test('a file that the console does not have is answered 404, without a session and without a message of the program', async () => {
  const { status, body, headers } = await send('/assets/1/none.js');
  expect([status, body]).toEqual([404, 'There is no such file.\n']);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});
