import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { requestAnswer } from './request-answer.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    gateway: `http://127.0.0.1:${port}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const piece = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const late = 'The model m sent nothing for 1 s, the request timeout. Raise --request-timeout';

async function ask(gateway: string, timeoutSeconds: number) {
  const shown: string[] = [];
  const onText = (text: string): void => void shown.push(text);
  const asked = await requestAnswer({ gateway, key: 'k', body: { model: 'm' }, timeoutSeconds, onText });
  return { ...asked, shown };
}

test('a gateway that accepts the request and sends nothing ends it with the timeout', async () => {
  using server = await serve(() => undefined);
  await expect(ask(server.gateway, 1)).rejects.toMatchObject({
    exit: 'timeout',
    message: expect.stringContaining(late),
  });
});

test('an answer without a stream that breaks off in silence ends with the timeout', async () => {
  using server = await serve((_, response) => void response.writeHead(200).write('{'));
  await expect(ask(server.gateway, 1)).rejects.toMatchObject({ exit: 'timeout' });
});

test('a stream that pauses for too long keeps its text and ends with a timeout', async () => {
  using server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece('half'));
  });
  const { reply, shown } = await ask(server.gateway, 1);
  expect(shown).toEqual(['half']);
  expect(reply).toMatchObject({ text: 'half', fault: { kind: 'timeout', message: expect.stringContaining(late) } });
});

test('a stream whose pieces arrive within the timeout may take longer than it', async () => {
  using server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r' });
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      if (sent <= 8) return void response.write(piece(String(sent)));
      clearInterval(timer);
      response.end('data: [DONE]\n\n');
    }, 300);
  });
  expect(await ask(server.gateway, 2)).toMatchObject({
    requestId: 'r',
    reply: { text: '12345678', fault: undefined },
  });
});

test('a timeout above the limit of the built-in HTTP client takes effect', async () => {
  using server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${piece('all')}data: [DONE]\n\n`);
  });
  expect(await ask(server.gateway, 900)).toMatchObject({ reply: { text: 'all', fault: undefined } });
});

test('a port without a program is reported as not running, and not as a timeout', async () => {
  let origin = '';
  {
    using server = await serve(() => undefined);
    origin = server.gateway;
  }
  await expect(ask(origin, 1)).rejects.toMatchObject({
    exit: 'not_running',
    message: expect.stringContaining('no program listens on port'),
  });
});
