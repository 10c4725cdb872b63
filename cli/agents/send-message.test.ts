import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { sendAgentMessage } from './send-message.ts';

const answer = { message: { parts: [{ text: 'Good morning' }] } };

async function send(delayMs: number, timeoutSeconds: number) {
  const server = createServer((_, response) => {
    setTimeout(() => response.end(JSON.stringify(answer)), delayMs).unref();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  try {
    const to = { origin, path: '' };
    return await sendAgentMessage({ to, identity: {}, text: 'hello', data: undefined, timeoutSeconds });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('an agent that does not answer within the request timeout is reported with a separate error and its remedy', async () => {
  await expect(send(600_000, 1)).rejects.toMatchObject({
    exit: 'timeout',
    message: expect.stringMatching(/did not answer within 1 s, the request timeout\. .*--request-timeout/),
  });
});

test('an agent that answers within a timeout above that of the built-in client is waited for', async () => {
  expect(await send(0, 930)).toEqual({ text: 'Good morning' });
});
