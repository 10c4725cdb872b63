import { expect, test } from 'vitest';
import { sendBytes, sendJson } from './json-answer.ts';
import { listen, type NodeHandler } from './listen.ts';
import { rawClient } from './testing/raw-client.ts';

const answerOf = async (handler: NodeHandler, method = 'GET') => {
  await using server = await listen({
    handler,
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 5000,
    keepAliveTimeoutMs: 5000,
    maxHeaderBytes: 4096,
  });
  await using client = await rawClient(server.port);
  client.send(`${method} / HTTP/1.1\r\nhost: a\r\n\r\n`);
  return await client.answer();
};

test('a JSON response has its length in bytes, its media type and the given headers', async () => {
  const answer = await answerOf((_, outgoing) => sendJson(outgoing, 202, { a: 'я' }, { etag: '"1"' }));
  expect(answer).toMatchObject({
    status: 202,
    headers: { 'content-type': 'application/json', 'content-length': '10', etag: '"1"' },
    body: '{"a":"я"}',
  });
});

test('a body of bytes is sent unchanged, and so is an empty body', async () => {
  const answer = await answerOf((_, outgoing) => sendBytes(outgoing, 200, 'text/plain', new Uint8Array(0)));
  expect(answer).toMatchObject({ headers: { 'content-type': 'text/plain', 'content-length': '0' }, body: '' });
});
