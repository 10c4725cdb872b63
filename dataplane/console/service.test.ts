import { afterAll, beforeAll, expect, test } from 'vitest';
import { managementErrors } from '#contracts/management-errors';
import { retrievalErrors } from '#contracts/retrieval-errors';
import { listen } from '#kit/http/listen';
import { createConsoleService } from './service.ts';
import { createCookies } from './sessions/cookies.ts';
import type { ConsoleConfig } from './setup/console-config.ts';
import { en } from './words/en.ts';
import { refusalsRu } from './words/refusals-ru.ts';

const key = Buffer.alloc(32, 7);
/** A port that no service of this machine listens on. */
const nowhere = new URL('http://127.0.0.1:9');
const rights = {
  ...{ view: true, author: true, check: true, apply: true, administer: true },
  ...{ readsPolicies: true, readsModels: true },
};
const csrf = 'c'.repeat(32);
let service: Awaited<ReturnType<typeof createConsoleService>>;
let cookie: string;

function startConsole(management: URL, change: Partial<ConsoleConfig> = {}) {
  const free = { host: '127.0.0.1', port: 0 };
  return createConsoleService(
    {
      listen: free,
      adminListen: free,
      origin: undefined,
      oidc: { issuer: nowhere, clientId: 'c', clientSecretFile: undefined, scope: 'openid', resource: undefined },
      services: { management, retrieval: undefined, memory: undefined, catalogue: undefined, gateway: undefined },
      tenant: 'default',
      identity: 'development',
      actChain: false,
      persons: [],
      logLevel: 'error',
      ...change,
    },
    key,
  );
}

async function cookieOf(origin: string): Promise<string> {
  const expiresAt = Math.floor(Date.now() / 1_000) + 600;
  const session = { subject: 'ann', token: 'none', csrf, rights, expiresAt };
  const kept = await createCookies(key, origin).keep(session);
  return kept.map((one) => one.split(';')[0]).join('; ');
}

beforeAll(async () => {
  service = await startConsole(nowhere);
  cookie = await cookieOf(service.url);
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

test('a cache keeps a script of the version of the page, and not the one that another version answers for its address', async () => {
  const { body } = await send('/overview', { headers: { cookie } });
  const [, path = '', version = ''] = /src="(\/assets\/([0-9a-f]{12})\/console\.js)"/.exec(body) ?? [];
  const own = await send(path);
  const other = await send(path.replace(version, '0'.repeat(12)));
  expect([own, other].map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual([
    [200, 'public, max-age=31536000, immutable'],
    [200, 'no-store'],
  ]);
  expect(other.body).toBe(own.body);
});

test('a request of a script gets a part of a page, and after the end of the session no reload, so that typed text stays', async () => {
  const script = { 'hx-request': 'true' };
  const ended = await post('/policies/check', { source: 'name: x' }, script);
  expect([ended.status, ended.headers.get('hx-refresh')]).toEqual([401, null]);
  expect(ended.body).toContain('The session has ended');
  expect(ended.body).toContain('href="/sign-in"');
  const foreign = await post(
    '/policies/check',
    { source: 'name: x' },
    { ...script, cookie, origin: 'http://127.0.0.1:1' },
  );
  expect(foreign.status).toBe(403);
  for (const { body } of [ended, foreign]) expect(body).not.toMatch(/<html|<header|<main/);
  const whole = await post('/policies', { csrf, source: 'name: x' });
  expect(whole.status).toBe(401);
  expect(whole.body).toContain('<main');
});

const policyId = '01900000-0000-7000-8000-000000000001';
const savedKey = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';
const typedPolicy = {
  key: savedKey,
  id: policyId,
  etag: '"7"',
  status: 'draft',
  source: 'name: <b>typed</b>\r\nmore: "text"',
};
const shownSource = '\nname: &lt;b&gt;typed&lt;/b&gt;\nmore: &quot;text&quot;</textarea>';

test.each(['/policies', `/policies/${policyId}`, '/policies/convert?to=form'])(
  'the text of the policy editor that is sent to %s after the end of the session is in the answer, with a form that sends it again',
  async (path) => {
    const { status, body } = await post(path, { csrf, ...typedPolicy });
    expect(status).toBe(401);
    expect(body).toContain(shownSource);
    expect(body).toContain(`<form method="post" action="${path}" enctype="multipart/form-data">`);
    expect(body).toContain('name="etag" value="&quot;7&quot;"');
    expect(body).toContain(`name="key" value="${savedKey}"`);
    expect(body).toContain('<a href="/sign-in" target="_blank" rel="noopener">');
    expect(body).not.toContain(csrf);
  },
);

test.each(['/policies', `/policies/${policyId}`, '/policies/convert?to=form'])(
  'the text of the policy editor that is sent to %s with the token of an earlier sign-in is in the editor again, with the token of the present one',
  async (path) => {
    const { status, body } = await post(path, { csrf: 'd'.repeat(32), ...typedPolicy }, { cookie });
    expect(status).toBe(403);
    expect(body).toMatch(
      /<textarea id="source"[^>]*>\s*name: &lt;b&gt;typed&lt;\/b&gt;\nmore: &quot;text&quot;<\/textarea>/,
    );
    expect(body).toContain(`<form method="post" action="/policies/${policyId}"`);
    expect(body).toContain(`name="csrf" value="${csrf}"`);
    expect(body).toContain(`name="key" value="${savedKey}"`);
    expect(body).toContain('name="etag" value="&quot;7&quot;"');
  },
);

test('a form of the console that reads a page leads to the sign-in by the page after the end of the session', async () => {
  const path = '/audit?outcome=refused';
  const signIn = `/sign-in?return_to=${encodeURIComponent(path)}`;
  const sent = await send(path, { headers: { referer: `${service.url}/audit` } });
  expect([sent.status, sent.headers.get('refresh')]).toEqual([401, `0;url=${signIn}`]);
  expect(sent.body).toContain(`<a href="${signIn}">`);
  for (const headers of [{}, { referer: 'http://127.0.0.1:1/audit' }]) {
    const linked = await send(path, { headers });
    expect([linked.status, linked.headers.get('location')]).toEqual([303, signIn]);
  }
});

test('a page of another origin does not get the typed text, with a session or without one', async () => {
  for (const headers of [{ cookie }, {}]) {
    const sent = { ...headers, origin: 'http://127.0.0.1:1' };
    const { status, body } = await post(`/policies/${policyId}`, { csrf, ...typedPolicy }, sent);
    expect([status, body.includes('more: ')]).toEqual([403, false]);
  }
});

test('the text of another form is in the answer that refuses it, even after the end of the session', async () => {
  const ended = await post(`/memory/${policyId}`, { csrf, text: 'I drink <tea>.' });
  const other = await post(`/memory/${policyId}`, { csrf: 'd'.repeat(32), text: 'I drink <tea>.' }, { cookie });
  expect([ended.status, other.status]).toEqual([401, 403]);
  for (const { body } of [ended, other]) expect(body).toContain('\nI drink &lt;tea&gt;.</textarea>');
});

test.each([
  ['/policies', 4_194_304],
  ['/knowledge/01900000-0000-7000-8000-000000000001/documents', 4_259_840],
])('a form to %s is read up to %i bytes, and refused with one byte more', async (path, most) => {
  const statusOf = async (bytes: number): Promise<number> => {
    const start = `csrf=${csrf}&text=`;
    const body = `${start}${'a'.repeat(bytes - start.length)}`;
    const headers = { origin: service.url, cookie, 'content-type': 'application/x-www-form-urlencoded' };
    return (await send(path, { method: 'POST', body, headers })).status;
  };
  expect(await statusOf(most)).not.toBe(413);
  expect(await statusOf(most + 1)).toBe(413);
});

test.each([{}, { 'x-csrf-token': csrf }])(
  'a form that cannot be read is refused with 400, with a session and without one: %o',
  async (token) => {
    const part = `--b\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n${csrf}\r\n--b--\r\n`;
    for (const held of [{}, { cookie }]) {
      const sent = { ...held, ...token, origin: service.url };
      for (const type of ['multipart/form-data', 'multipart/form-data; boundary=c']) {
        const headers = { ...sent, 'content-type': type };
        const { status, body } = await send('/policies/convert', { method: 'POST', body: part, headers });
        expect([type, status, body.includes(en.errors.unreadable)]).toEqual([type, 400, true]);
      }
      const headers = { ...sent, 'content-type': 'multipart/form-data; boundary=b' };
      const { status } = await send('/policies/convert', { method: 'POST', body: part, headers });
      expect(status).toBe('cookie' in held ? 200 : 401);
    }
  },
);

test.each([
  [500, 502],
  [502, 502],
  [503, 503],
  [504, 504],
  [409, 409],
  [418, 422],
])('a page over an API that answers %i has the status %i', async (given, shown) => {
  await using stack = new AsyncDisposableStack();
  const refusing = stack.use(await startRefusing('No.', given, 'error'));
  const own = stack.use(await startConsole(new URL(refusing.url)));
  const answer = await fetch(`${own.url}/activity`, { headers: { cookie: await cookieOf(own.url) } });
  expect(answer.status).toBe(shown);
});

test('a form without a length is refused with 413 as soon as it is too large', async () => {
  const headers = { origin: service.url, cookie, 'content-type': 'application/x-www-form-urlencoded' };
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(Buffer.alloc(1_048_576, 97));
    },
  });
  const answer = await send('/policies', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
  expect(answer.status).toBe(413);
});

test('a stream reports that the management API does not answer, and keeps the connection', async () => {
  await using stack = new AsyncDisposableStack();
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const answer = await fetch(`${service.url}/overview/events`, { headers: { cookie }, signal: stop.signal });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(':\n\n')) break;
  }
  expect(text.match(/The service does not answer/g)).toHaveLength(1);
});

/** Refuses each request with the body of the management API, which needs a database and an API server. */
function startRefusing(message: string, status = 403, code = 'permission_denied') {
  return listen({
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 5_000,
    keepAliveTimeoutMs: 5_000,
    maxHeaderBytes: 16_384,
    handler: (_incoming, outgoing) => {
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { code, message } }));
    },
  });
}

test('a refusal of the management API has its message and status, also on a stream, which a browser would open again', async () => {
  await using stack = new AsyncDisposableStack();
  const meaning = 'The subject does not have the permission control_plane:control-plane#administer.';
  const refusing = stack.use(await startRefusing(meaning));
  const refused = stack.use(await startConsole(new URL(refusing.url)));
  const headers = { cookie: await cookieOf(refused.url), 'hx-request': 'true' };
  for (const path of ['/overview', '/overview/events']) {
    const answer = await fetch(`${refused.url}${path}`, { headers });
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 403, 'text/html; charset=UTF-8']);
    expect(await answer.text()).toContain(meaning);
  }
});

test.each([
  ['/policies?cursor=a%26b', '/policies?cursor=a%26b'],
  ['/sign-out', '/'],
  ['/memory/erase', '/'],
  ['/policies/convert', '/'],
])('a sign-in that begins at %s leads to %s', async (path, to) => {
  const { status, headers } = await send(path);
  expect([status, headers.get('location')]).toEqual([303, `/sign-in?return_to=${encodeURIComponent(to)}`]);
});

const tenantPages = ['/knowledge', `/knowledge/${policyId}`, '/memory', `/memory/${policyId}/history`];

test('in production the pages of retrieval and memory are offered if tokens have an act chain, and otherwise give the reason', async () => {
  await using stack = new AsyncDisposableStack();
  const { meaning } = retrievalErrors.unauthorized;
  const refusing = stack.use(await startRefusing(meaning, 401, 'unauthorized'));
  const api = new URL(refusing.url);
  const services = { management: nowhere, retrieval: api, memory: api, catalogue: undefined, gateway: undefined };
  const start = async (change: Partial<ConsoleConfig>) => {
    const { url } = stack.use(await startConsole(nowhere, { services, ...change }));
    const headers = { cookie: await cookieOf(url) };
    return async (path: string) => {
      const answer = await fetch(`${url}${path}`, { headers });
      const body = await answer.text();
      const offered = [...body.matchAll(/<li><a href="(\/knowledge|\/memory)"/g)].map(([, href]) => href);
      return { status: answer.status, body, offered };
    };
  };
  const closed = await start({ identity: 'production' });
  const open = await start({ identity: 'production', actChain: true });
  for (const path of tenantPages) {
    const without = await closed(path);
    expect([without.status, without.offered]).toEqual([403, []]);
    expect(without.body).toContain(en.errors.noActChainText);
    const refused = await open(path);
    expect([refused.status, refused.offered]).toEqual([401, ['/knowledge', '/memory']]);
    expect(refused.body).toContain(en.errors.unaccepted);
    for (const text of [without.body, refused.body]) expect(text).not.toContain(en.errors.ended);
  }
  expect((await (await start({ identity: 'development' }))('/overview')).offered).toEqual(['/knowledge', '/memory']);
});

test('a token that the management API refuses leads to the sign-in, with the reasons why a new one may be refused as well', async () => {
  await using stack = new AsyncDisposableStack();
  const refusing = stack.use(await startRefusing('No.', 401, 'unauthenticated'));
  const own = stack.use(await startConsole(new URL(refusing.url)));
  const answer = await fetch(`${own.url}/overview`, { headers: { cookie: await cookieOf(own.url) } });
  const body = await answer.text();
  expect([answer.status, body.includes('href="/sign-in"'), body.includes(en.errors.ended)]).toEqual([401, true, false]);
  for (const text of [en.errors.unaccepted, en.errors.signInAgain, '<code>unauthenticated</code>'])
    expect(body).toContain(text);
});

test('a page in Russian states a refusal in Russian, and names the right in the words of the API', async () => {
  await using stack = new AsyncDisposableStack();
  const { meaning } = managementErrors.permission_denied;
  const refusing = stack.use(await startRefusing(meaning));
  const refused = stack.use(await startConsole(new URL(refusing.url)));
  const headers = { cookie: await cookieOf(refused.url), 'accept-language': 'ru' };
  const body = await (await fetch(`${refused.url}/overview`, { headers })).text();
  expect(body).toContain(refusalsRu.permission_denied);
  expect(body).toContain(`<p class="quiet small"><span lang="en">${meaning}</span></p>`);
});

test('the choice of a language leads back to the same page, and without a session to no other origin', async () => {
  const page = await send('/policies?cursor=a%26b', { headers: { cookie } });
  expect(page.body).toContain('name="return_to" value="/policies?cursor=a%26b"');
  const back = await post('/preferences', { csrf, language: 'ru', return_to: '/policies?cursor=a%26b' }, { cookie });
  expect([back.status, back.headers.get('location')]).toEqual([303, '/policies?cursor=a%26b']);
  const write = await post('/memory/erase', { csrf }, { cookie });
  expect(write.body).toContain('name="return_to" value="/"');
  const attempt = await send('/sign-in/callback?code=secret&state=s');
  expect([attempt.status, attempt.body.includes('secret')]).toEqual([400, false]);
  const signedOut = await post('/preferences', { csrf: '', language: 'ru', return_to: '/policies' });
  expect([signedOut.status, signedOut.headers.get('location')]).toEqual([200, null]);
  expect(signedOut.headers.get('set-cookie')).toContain('portcullis-language=ru');
});

test('a shutdown completes open streams, and does not wait until their clients close them', async () => {
  const own = await startConsole(nowhere);
  const answer = await fetch(`${own.url}/overview/events`, { headers: { cookie: await cookieOf(own.url) } });
  const text = answer.text();
  // A stream that is still open at the end of the shutdown would be broken off, and its text would reject.
  await own[Symbol.asyncDispose]();
  expect(await text).toContain('The service does not answer');
});
