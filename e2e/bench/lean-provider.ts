// A provider that answers each chat with the same bytes: whole answers of 1 KiB, streams of 2 KiB with one frame for
// each word. Of a request it only reads whether a stream is requested, so that it costs less than the measured program.
import { createServer } from 'node:http';
import { writeReadyLine } from '#kit/process/ready';
import { proseOf } from './texts.ts';

const head = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'upstream-model' };
const whole = Buffer.from(
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: proseOf('latin', 1_024), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 250, completion_tokens: 250, total_tokens: 500 },
  }),
);

function frameOf(delta: object, reason: string | null): Buffer {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }];
  return Buffer.from(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`);
}

const frames = [
  frameOf({ role: 'assistant', content: '', refusal: null }, null),
  ...(proseOf('latin', 2_048).match(/\S+\s*/g) ?? []).map((content) => frameOf({ content }, null)),
  frameOf({}, 'stop'),
  Buffer.from('data: [DONE]\n\n'),
];
const asksStream = Buffer.from('"stream":true');

const server = createServer((incoming, outgoing) => {
  const parts: Buffer[] = [];
  incoming.on('data', (part: Buffer) => parts.push(part));
  incoming.on('end', () => {
    if (!Buffer.concat(parts).includes(asksStream)) {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
      outgoing.end(whole);
      return;
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const frame of frames) outgoing.write(frame);
    outgoing.end();
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') writeReadyLine({ listening: `http://127.0.0.1:${address?.port}` });
});
process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
