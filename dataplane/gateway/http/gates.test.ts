import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainError } from '../relay/client-error.ts';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';
import { clientErrors, errorAnswer } from './errors.ts';
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

/** Sends bytes as they are and reads until the gateway closes. */
async function raw(request: string): Promise<string> {
  const { hostname, port } = new URL(world.gateway.service.url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  return readText(socket);
}

const chatPath = '/v1/chat/completions';

describe('who may call', () => {
  test.each<[string, Record<string, string>]>([
    ['nobody without a key', {}],
    ['nobody with a wrong key', { authorization: 'Bearer wrong' }],
    ['nobody with the name of a key', { authorization: 'Bearer tests' }],
    ['nobody with another scheme', { authorization: `Basic ${clientKey}` }],
  ])('%s', async (_, headers) => {
    for (const [method, path] of [
      ['POST', chatPath],
      ['POST', '/v1/embeddings'],
      ['GET', '/v1/models'],
    ] as const) {
      const answer = await fetch(`${world.gateway.service.url}${path}`, { method, headers });
      expect(await codeOf(answer)).toBe('401 unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('nobody with two keys at once', async () => {
    const answer = await raw(
      `GET /v1/models HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${clientKey}\r\nAuthorization: Bearer ${clientKey}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('a request', () => {
  test('to another path or with another method is told so', async () => {
    expect(await codeOf(await world.post('/v1/completions', {}))).toBe('404 not_found');
    expect(await codeOf(await fetch(`${world.gateway.service.url}/metrics`))).toBe('404 not_found');
    expect(await codeOf(await fetch(`${world.gateway.service.url}${chatPath}`))).toBe('405 method_not_allowed');
    expect(await codeOf(await world.post('/v1/models', {}))).toBe('405 method_not_allowed');
  });

  test.each<[string, Record<string, string>, number]>([
    ['no JSON by its type', { 'content-type': 'text/plain' }, 415],
    ['in another charset', { 'content-type': 'application/json; charset=latin1' }, 415],
    ['in UTF-8', { 'content-type': 'application/json; charset=utf-8' }, 200],
    ['encoded', { 'content-encoding': 'gzip' }, 415],
    ['encoded as itself', { 'content-encoding': 'identity' }, 415],
  ])('%s', async (_, headers, status) => {
    expect((await world.chat(says('hi'), headers)).status).toBe(status);
  });

  test('may be as large as 20 MiB and not a byte larger', async () => {
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    const sized = (bytes: number): string => body + ' '.repeat(bytes - body.length);
    expect((await world.post(chatPath, sized(maxRequestBytes))).status).toBe(200);
    expect(await codeOf(await world.post(chatPath, sized(maxRequestBytes + 1)))).toBe('413 body_too_large');
  });

  test('in invalid UTF-8 is refused', async () => {
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

  test('that is no HTTP gets the error of the API', async () => {
    const answer = await raw('HELLO\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code: 'invalid_json' } });
  });
});

test('every error has the shape of the API, and only a deny and a failed check are final', () => {
  for (const code of Object.keys(clientErrors) as (keyof typeof clientErrors)[]) {
    const { status, final, body } = errorAnswer(plainError(code));
    expect(status).toBe(clientErrors[code].status);
    expect(final).toBe(code === 'policy_denied');
    const { error } = JSON.parse(body.toString('utf8')) as { error: object };
    expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  }
  expect(errorAnswer({ kind: 'check_failed', code: 'overloaded' })).toMatchObject({ status: 503, final: true });
});
