import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { streamAgentMessage } from './stream-message.ts';

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const begun = event({ task: { id: 't-1', contextId: 'c-1' } });
const piece = (text: string) => event({ artifactUpdate: { artifact: { parts: [{ text }] } } });
const ended = (state: string, parts?: readonly object[]) =>
  event({ statusUpdate: { status: { state, ...(parts === undefined ? {} : { message: { parts } }) } } });

/** Sends one message to a server that answers the stream; records the requested paths. */
async function stream(answer: (response: ServerResponse) => void, onText: (text: string) => void = () => undefined) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    if (request.url === '/message:stream') answer(response);
    else response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const to = { origin: `http://127.0.0.1:${(address as { port: number }).port}`, path: '' };
  const interruption = new AbortController();
  const call = {
    to,
    identity: {},
    text: 'hello',
    contextId: undefined,
    timeoutSeconds: 60,
    signal: interruption.signal,
  };
  try {
    const take = (text: string): void => {
      onText(text);
      if (text === 'stop') interruption.abort();
    };
    return { reply: await streamAgentMessage({ ...call, onText: take }), paths };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('each piece of a streamed answer is passed on in order, with the context of the conversation', async () => {
  const pieces: string[] = [];
  const { reply } = await stream(
    (response) => response.end(`${begun}${piece('Good ')}${piece('day')}${ended('TASK_STATE_COMPLETED')}`),
    (text) => pieces.push(text),
  );
  expect([reply, pieces]).toEqual([{ taskId: 't-1', contextId: 'c-1', text: 'Good day' }, ['Good ', 'day']]);
});

test('a file is named on a separate line, and an artifact that begins again replaces its text in the reply', async () => {
  const pieces: string[] = [];
  const update = (parts: readonly object[]) => event({ artifactUpdate: { artifact: { artifactId: 'x', parts } } });
  const { reply } = await stream(
    (response) =>
      response.end(
        `${begun}${update([{ text: 'draft' }])}${update([{ text: 'final' }, { raw: 'AA==', filename: 'a.pdf' }])}${ended('TASK_STATE_COMPLETED')}`,
      ),
    (text) => pieces.push(text),
  );
  expect(reply).toEqual({ taskId: 't-1', contextId: 'c-1', text: 'final', files: ['a.pdf'] });
  expect(pieces.join('')).toBe('draft\nfinal\nThe agent sent a file: a.pdf\n');
});

test('a task that a policy stops has the exit code of a denial, and a stream that ends early is a fault', async () => {
  const denied = [{ data: { code: 'guardrail_denied', message: 'no' } }];
  const failed = await stream((response) => response.end(`${begun}${ended('TASK_STATE_FAILED', denied)}`));
  expect(failed.reply?.fault).toMatchObject({ exit: 'guardrail_blocked', message: 'guardrail_denied: no' });
  const early = await stream((response) => response.end(`${begun}${piece('Good')}`));
  expect(early.reply).toMatchObject({ text: 'Good', fault: { exit: 'upstream_error' } });
});

test('an interruption asks the agent to cancel the task and keeps the text received so far', async () => {
  const { reply, paths } = await stream((response) => response.write(`${begun}${piece('stop')}`));
  expect(reply).toMatchObject({
    text: 'stop',
    fault: { exit: 'failed', message: expect.stringContaining('cancelled') },
  });
  expect(paths).toEqual(['/message:stream', '/tasks/t-1:cancel']);
});

test('an agent that does not stream is reported, so that the client waits for its complete answer', async () => {
  const details = [{ domain: 'portcullis', reason: 'UnsupportedOperationError' }];
  const body = JSON.stringify({ error: { message: 'no', details } });
  const { reply } = await stream((response) => response.writeHead(400).end(body));
  expect(reply).toBeUndefined();
});

test('an agent whose process does not support streaming is reported like an agent that does not stream', async () => {
  const { reply } = await stream((response) => response.writeHead(404).end('{"error":{"code":404}}'));
  expect(reply).toBeUndefined();
});

test('the error event that ends a stream is a fault with its code', async () => {
  const details = [{ domain: 'portcullis', reason: 'guardrail_denied' }];
  const error = JSON.stringify({ error: { message: 'Denied.', details } });
  const { reply } = await stream((response) =>
    response.end(`${begun}${piece('Good')}event: error\ndata: ${error}\n\n`),
  );
  expect(reply).toMatchObject({
    text: 'Good',
    fault: { exit: 'guardrail_blocked', message: 'guardrail_denied: Denied.' },
  });
});

test('a stream that ends with TASK_STATE_INPUT_REQUIRED is a complete reply with inputRequired', async () => {
  const { reply } = await stream((response) =>
    response.end(`${begun}${ended('TASK_STATE_INPUT_REQUIRED', [{ text: 'When?' }])}`),
  );
  expect(reply).toEqual({ taskId: 't-1', contextId: 'c-1', text: 'When?', inputRequired: true });
});
