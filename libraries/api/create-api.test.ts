import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawClient } from '#kit/http/testing/raw-client';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createApi } from './create-api.ts';
import { openApiPaths } from './openapi.ts';
import { type NoteService, noteTable, serveNotes } from './testing/note-service.ts';

const clock = createFakeClock();
const service: NoteService = { notes: new Map(), keys: new Map(), clock, beforeStore: async () => undefined };
let served: Awaited<ReturnType<typeof serveNotes>>;

beforeAll(async () => {
  served = await serveNotes(service);
});
afterAll(() => served.server[Symbol.asyncDispose]());

async function call(path: string, init: RequestInit & { readonly tenant?: string | null } = {}) {
  const { tenant = 'blue', headers, ...rest } = init;
  const own = tenant === null ? {} : { 'x-tenant': tenant };
  const answer = await fetch(`${served.server.url}${path}`, { ...rest, headers: { ...own, ...headers } });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) };
}

const post = (body: string, headers: Record<string, string> = {}) =>
  call('/notes', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'key1', ...headers },
  });

describe('the gates of an operation', () => {
  test('a request without an identity is refused before its query, body and key are read', async () => {
    const answer = await call('/notes?unknown=1', { method: 'POST', body: 'x', tenant: null });
    expect([answer.status, answer.json.code, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'no_tenant',
      'Bearer',
    ]);
  });

  test('an unknown, repeated or invalid query parameter is refused, a valid one is accepted', async () => {
    for (const query of ['limit=1&limit=1', 'other=1', 'limit=0', 'limit=4', 'limit=x']) {
      const answer = await call(`/notes?${query}`);
      expect([query, answer.status, answer.json.code]).toEqual([query, 400, 'bad_request']);
    }
    expect((await call('/notes?cursor=none')).json.code).toBe('bad_cursor');
    expect((await call('/notes?limit=3')).status).toBe(200);
  });

  test('an invalid path parameter is refused with the code of its operation table', async () => {
    expect((await call('/notes/one')).json.code).toBe('not_found');
  });

  test("media type, size and key of a command are checked in the order of the operation's gates", async () => {
    const long = JSON.stringify({ text: 'x'.repeat(200) });
    expect((await post(long, { 'content-type': 'text/plain', 'idempotency-key': 'a' })).json.code).toBe('media_type');
    expect((await post(long, { 'idempotency-key': 'a' })).json.code).toBe('too_large');
    const keys = { abc: 'key_invalid', abcdefghi: 'key_invalid', 'ab/cd': 'key_invalid' };
    for (const [key, code] of Object.entries(keys)) {
      expect([key, (await post('{', { 'idempotency-key': key })).json.code]).toEqual([key, code]);
    }
    const without = await call('/notes', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(without.json.code).toBe('key_missing');
    const exact = `{"text":"x"}${' '.repeat(188)}`;
    expect((await post(exact, { 'idempotency-key': 'abcdefgh' })).status).toBe(201);
    expect((await post(`${exact} `, { 'idempotency-key': 'abcd' })).json.code).toBe('too_large');
  });

  test('an operation fails if it reads a value that none of its gates provides', async () => {
    const answer = await call('/fail/gate');
    expect([answer.status, answer.json.code]).toEqual([500, 'broken']);
    expect(served.thrown.at(-1)).toBeInstanceOf(TypeError);
  });

  test('an operation without an identity gate is refused at start unless it is public', () => {
    const [operation] = noteTable.operations;
    const make = (change: object) =>
      createApi({
        table: { ...noteTable, operations: [{ ...operation, gates: ['query'], ...change }] } as typeof noteTable,
        service,
        authorizer: { authorize: () => Promise.reject(new Error()) },
        errorOf: () => undefined,
        onEnded: () => undefined,
        onInternalError: () => undefined,
      });
    expect(() => make({})).toThrow('listNotes has no identity gate');
    expect(() => make({ public: true })).not.toThrow();
  });
});

describe('responses of an API', () => {
  test('an API continues the trace of a request, and starts a new one for an invalid traceparent', async () => {
    const id = 'ab'.repeat(16);
    const traced = await call('/notes', { headers: { traceparent: `00-${id}-${'cd'.repeat(8)}-01` } });
    expect(traced.headers.get('traceparent')).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
    expect(traced.headers.get('cache-control')).toBe('no-store');
    const later = await call('/notes', { headers: { traceparent: `01-${id}-${'cd'.repeat(8)}-01-more` } });
    expect(later.headers.get('traceparent')).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
    for (const wrong of [`00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`, 'none']) {
      const refused = await call('/notes/one', { headers: { traceparent: wrong } });
      expect(refused.json.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    }
    expect(served.ended.at(-1)).toMatchObject({ operation: 'getNote', code: 'not_found' });
  });

  test('an API answers HEAD as GET without a body, and OPTIONS and other methods with 405 and the allowed methods', async () => {
    const head = await call('/notes', { method: 'HEAD' });
    expect([head.status, head.json]).toEqual([200, undefined]);
    for (const method of ['OPTIONS', 'DELETE']) {
      const answer = await call('/notes', { method });
      expect([answer.status, answer.json.code, answer.headers.get('allow')]).toEqual([
        405,
        'method_not_allowed',
        'GET, POST, HEAD',
      ]);
    }
    expect((await call('/none')).json.code).toBe('not_found');
    expect((await call('/openapi.json', { tenant: null })).json).toEqual({});
    expect((await call('/openapi.json', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  test('an error of a dependency is answered with the code of the service, any other error with internal and without details', async () => {
    const away = await call('/fail/store');
    expect([away.status, away.json.code, away.headers.get('retry-after')]).toEqual([503, 'store_unavailable', '1']);
    const broken = await call('/fail/other');
    expect(broken.json).toMatchObject({ code: 'broken', message: 'Internal error.', details: [] });
    expect(served.thrown.at(-1)).toMatchObject({ message: 'secret text' });
  });

  test('a request that Node refuses is answered with the error body of the service', async () => {
    const refused = {
      '400 bad_request': 'GET / HTTP/1.1\r\n\r\n',
      '417 expectation': 'GET /notes HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n',
      '431 header_size': `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(5_000)}\r\n\r\n`,
    };
    for (const [wanted, text] of Object.entries(refused)) {
      const client = await rawClient(served.server.port);
      client.send(text);
      const { status, body } = await client.answer();
      expect(`${status} ${JSON.parse(body).code}`).toBe(wanted);
      await client[Symbol.asyncDispose]();
    }
  });

  test('following the cursors of a list returns each entry of the tenant once', async () => {
    service.notes.clear();
    for (const at of [1, 2, 3, 4, 5]) {
      expect((await post(`{"text":"n${at}"}`, { 'idempotency-key': `walk${at}`, 'x-tenant': 'green' })).status).toBe(
        201,
      );
    }
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await call(`/notes${cursor === '' ? '' : `?cursor=${cursor}`}`, { tenant: 'green' });
      seen.push(...json.items);
      cursor = json.nextCursor;
    }
    expect(seen.toSorted()).toEqual(['n1', 'n2', 'n3', 'n4', 'n5']);
    expect((await call('/notes')).json.items).toEqual([]);
  });
});

describe('idempotent commands', () => {
  test('a repeated command gets the same answer; a different or invalid body does not use up the idempotency key', async () => {
    const send = (body: string) => post(body, { 'idempotency-key': 'again' });
    const invalid = await send('{"text":""}');
    expect([invalid.status, invalid.json.details]).toEqual([422, [{ path: '/text', message: 'must not be empty' }]]);
    const first = await send('{"text":"one"}');
    const second = await send('{ "text": "one" }');
    expect([first.status, second.json]).toEqual([201, first.json]);
    expect((await send('{"text":"two"}')).json.code).toBe('key_reused');
  });

  test('a repeated command waits for the command in progress, and is refused at the timeout', async () => {
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    service.beforeStore = () => {
      reached.resolve();
      return release.promise;
    };
    const send = () => post('{"text":"slow"}', { 'idempotency-key': 'slow' });
    const first = send();
    await reached.promise;
    const late = send();
    const advance = setInterval(() => clock.advance(1_000), 20);
    const refused = await late;
    clearInterval(advance);
    expect([refused.json.code, refused.headers.get('retry-after')]).toEqual(['in_progress', '1']);
    const waiting = send();
    release.resolve();
    expect((await waiting).json).toEqual((await first).json);
    service.beforeStore = async () => undefined;
  });
});

test('the generated OpenAPI paths have every operation with its parameters, its body and its errors by status', () => {
  const paths = openApiPaths(noteTable);
  expect(Object.entries(paths).map(([path, item]) => [path, Object.keys(item)])).toEqual([
    ['/notes', ['get', 'post']],
    ['/notes/{noteId}', ['get']],
    ['/fail/{how}', ['get']],
  ]);
  expect(paths['/notes']?.['post']).toMatchObject({
    operationId: 'createNote',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/NoteWrite' } } },
    },
    responses: {
      '400': { description: 'bad_request: Bad request.' },
      '422': { description: 'invalid_note: Invalid note.' },
    },
  });
  expect(JSON.stringify(paths)).not.toContain('bad_cursor');
});
