import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckFailure, clientFailures } from '#checks/check-outcome';
import { checkErrors } from '#contracts/checks';
import { clientErrors, plainError } from '../relay/client-error.ts';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';
import { errorAnswer } from './errors.ts';
import { maxRequestBytes } from './receive-json.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function codeOf(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error: { code: string } };
  return `${answer.status} ${error.code}`;
}

/** Sends raw bytes to the gateway and reads until the gateway closes the connection. */
async function raw(request: string): Promise<string> {
  const { hostname, port } = new URL(world.gateway.service.url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  return readText(socket);
}

const chatPath = '/v1/chat/completions';

describe('authentication', () => {
  test.each<[string, Record<string, string>]>([
    ['without a key', {}],
    ['with a wrong key', { authorization: 'Bearer wrong' }],
    ['with the name of a key', { authorization: 'Bearer tests' }],
    ['with another scheme', { authorization: `Basic ${clientKey}` }],
  ])('a request to the gateway %s is refused with 401 on every path', async (_, headers) => {
    for (const [method, path] of [
      ['POST', chatPath],
      ['POST', '/v1/embeddings'],
      ['POST', '/v1/rerank'],
      ['GET', '/v1/models'],
      ['GET', '/v1/models/model'],
    ] as const) {
      const answer = await fetch(`${world.gateway.service.url}${path}`, { method, headers });
      expect(await codeOf(answer)).toBe('401 unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('a request with two Authorization headers is refused with 401', async () => {
    const answer = await raw(
      `GET /v1/models HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${clientKey}\r\nAuthorization: Bearer ${clientKey}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('a request', () => {
  test('a request to an unknown path is answered with 404, and a request with another method is answered with 405', async () => {
    expect(await codeOf(await world.post('/v1/completions', {}))).toBe('404 not_found');
    expect(await codeOf(await fetch(`${world.gateway.service.url}/metrics`))).toBe('404 not_found');
    expect(await codeOf(await fetch(`${world.gateway.service.url}${chatPath}`))).toBe('405 method_not_allowed');
    expect(await codeOf(await world.post('/v1/models', {}))).toBe('405 method_not_allowed');
    expect(await codeOf(await world.post('/v1/models/model', {}))).toBe('405 method_not_allowed');
  });

  test('an answer carries the request id, which is that of the client if it is a UUID or 32 hexadecimal digits', async () => {
    const idOf = async (path: string, sent: string): Promise<string | null> => {
      const headers = { authorization: `Bearer ${clientKey}`, 'x-request-id': sent };
      return (await fetch(`${world.gateway.service.url}${path}`, { headers })).headers.get('x-request-id');
    };
    const uuid = '0190a5d4-7f3a-7cc2-9b1e-8d3f5a6b7c01';
    const digits = uuid.replaceAll('-', '');
    const made = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    for (const path of ['/v1/models', '/v1/none', chatPath]) {
      expect(await idOf(path, uuid)).toBe(uuid);
      expect(await idOf(path, digits)).toBe(digits);
      for (const id of [uuid, digits]) expect(await idOf(path, id.toUpperCase())).toBe(id.toUpperCase());
      for (const other of [`${digits}0`, digits.slice(1), 'a text of the client']) {
        expect(await idOf(path, other)).toMatch(made);
      }
    }
  });

  test('GET of a model by its alias returns it, and a missing model is answered with 404', async () => {
    const headers = { authorization: `Bearer ${clientKey}` };
    const model = (alias: string): Promise<Response> =>
      fetch(`${world.gateway.service.url}/v1/models/${alias}`, { headers });
    expect(await (await model('model')).json()).toMatchObject({ id: 'model', object: 'model', owned_by: 'portcullis' });
    for (const missing of ['none', 'model%2Fx', 'a/b', '%6D'])
      expect(await codeOf(await model(missing))).toBe('404 model_not_found');
    expect(await codeOf(await model('%zz'))).toBe('404 model_not_found');
  });

  test.each<[string, Record<string, string>, number]>([
    ['with content type text/plain', { 'content-type': 'text/plain' }, 415],
    ['in latin1', { 'content-type': 'application/json; charset=latin1' }, 415],
    ['in UTF-8', { 'content-type': 'application/json; charset=utf-8' }, 200],
    ['encoded with gzip', { 'content-encoding': 'gzip' }, 415],
    ['encoded with identity', { 'content-encoding': 'identity' }, 415],
  ])('a body %s is answered with the right status', async (_, headers, status) => {
    expect((await world.chat(says('hi'), headers)).status).toBe(status);
  });

  test('a request body may have 20 MiB, and one byte more is refused with 413', async () => {
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    const sized = (bytes: number): string => body + ' '.repeat(bytes - body.length);
    expect((await world.post(chatPath, sized(maxRequestBytes))).status).toBe(200);
    expect(await codeOf(await world.post(chatPath, sized(maxRequestBytes + 1)))).toBe('413 body_too_large');
  });

  test('a request body in invalid UTF-8 is refused with 400', async () => {
    const body = Buffer.concat([
      Buffer.from('{"model":"model","messages":[{"role":"user","content":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}]}'),
    ]);
    const answer = await fetch(`${world.gateway.service.url}${chatPath}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
      body,
    });
    expect(await codeOf(answer)).toBe('400 invalid_json');
  });

  test('a request with too large headers or a too long path is refused with 431 and 414, and a request just below the limits is not', async () => {
    const models = (target: string, header: string): Promise<string> =>
      raw(
        `GET ${target} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${clientKey}\r\nX: ${header}\r\nConnection: close\r\n\r\n`,
      );
    const path = '/v1/models?';
    const told = (answer: string): string => {
      const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { error?: { code: string } };
      return `${answer.slice(9, 12)} ${error?.code ?? 'ok'}`;
    };
    expect(told(await models(path.padEnd(8_192, 'x'), ''))).toBe('200 ok');
    expect(told(await models(path.padEnd(8_193, 'x'), ''))).toBe('414 path_too_long');
    expect(told(await models(path, 'x'.repeat(16_000)))).toBe('200 ok');
    expect(told(await models(path, 'x'.repeat(16_384)))).toBe('431 headers_too_large');
    expect(told(await models(path.padEnd(60_000, 'x'), ''))).toBe('431 headers_too_large');
  });

  test('bytes that are not HTTP are answered with the error body of the API', async () => {
    const answer = await raw('HELLO\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code: 'invalid_json' } });
  });
});

test('every error has the shape of the API, and denials, unusable answers and permanent failures of a check are final', () => {
  const finalCodes = ['policy_denied', 'upstream_invalid', 'upstream_too_large', 'unjudged_answer'];
  for (const code of Object.keys(clientErrors) as (keyof typeof clientErrors)[]) {
    const { status, final, body } = errorAnswer(plainError(code));
    expect(status).toBe(clientErrors[code].status);
    expect([code, final]).toEqual([code, finalCodes.includes(code)]);
    const { error } = JSON.parse(body.toString('utf8')) as { error: object };
    expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  }
  const transient = [
    'network',
    'timeout',
    'no_address',
    'overloaded',
    'policy_unavailable',
    'stage_timeout',
    'rule_timeout',
    'provider_unavailable',
  ];
  const codes = [...Object.keys(checkErrors), ...Object.keys(clientFailures), 'structured_answer_unreadable'];
  for (const code of codes as (CheckFailure | 'structured_answer_unreadable')[]) {
    const { status, final } = errorAnswer({ kind: 'check_failed', code });
    expect([code, status, final]).toEqual([code, 503, !transient.includes(code)]);
  }
});
