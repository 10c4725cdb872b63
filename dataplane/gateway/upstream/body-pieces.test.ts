import { expect, test } from 'vitest';
import { answers, startScriptedHttp } from '#kit/testing/scripted-http';
import { BodyPieces } from './body-pieces.ts';
import { createUpstreamClient, releasedBodyBytes } from './upstream-client.ts';

const bytesOf = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, at) => 97 + (at % 26)));

test.each([0, 1, 65_536, 65_537, 200_000])('the pieces of a body of %d bytes are the complete body, once', (length) => {
  const pieces = new BodyPieces(bytesOf(length));
  const read = [...pieces];
  expect(Buffer.concat(read)).toEqual(bytesOf(length));
  expect(read.length).toBe(Math.ceil(length / 65_536));
  expect([...pieces]).toEqual([]);
});

test.each([releasedBodyBytes - 1, releasedBodyBytes, releasedBodyBytes + 1])(
  'a provider receives a body of %d bytes completely and with its length',
  async (length) => {
    await using server = await startScriptedHttp(answers('{}'));
    await using client = createUpstreamClient({
      openCredential: () => {
        throw new Error('the call has no credential');
      },
    });
    const { signal } = new AbortController();
    const call = { endpoint: server.url, path: '/x', body: bytesOf(length), credential: undefined, headers: {} };
    const answer = await client.call({ ...call, accept: 'application/json' }, signal);
    expect(answer).toMatchObject({ kind: 'answer', status: 200 });
    const [seen] = server.seen;
    expect(seen?.text).toBe(bytesOf(length).toString());
    expect(seen?.headers['content-length']).toBe(String(length));
  },
);
