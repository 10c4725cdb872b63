import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { preparePython } from '../../support/python.ts';
import { deniedTerm, maskedTerm, replacement } from '../../support/sample-policy.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';
import { verifies } from '../../support/verifies.ts';

/** The result of a call: the answer, or the exception that the client raised. */
type Told =
  | { readonly kind: 'complete'; readonly text: string }
  | {
      readonly kind: 'raised';
      readonly status: number | null;
      readonly type: string | undefined;
      readonly code: string | null | undefined;
      /** Text of the stream before the error. */
      readonly text: string;
    };

type Call = { readonly content: string; readonly stream: boolean };
type Ask = (call: Call) => Promise<Told>;

let platform: GuardedGateway;
beforeAll(async () => {
  platform = await startGuardedGateway();
});
afterAll(async () => platform[Symbol.asyncDispose]());
beforeEach(() => platform.proxy.inject({ kind: 'pass' }));

async function askNode({ content, stream }: Call): Promise<Told> {
  const client = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.key });
  const messages = [{ role: 'user' as const, content }];
  let text = '';
  try {
    if (!stream) {
      const answer = await client.chat.completions.create({ model: alias, messages });
      return { kind: 'complete', text: answer.choices[0]?.message.content ?? '' };
    }
    for await (const chunk of await client.chat.completions.create({ model: alias, messages, stream })) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    return { kind: 'complete', text };
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    return { kind: 'raised', status: error.status ?? null, type: error.type, code: error.code, text };
  }
}

const words = Array.from({ length: 500 }, (_, index) => `word-${index}`).join(' ');

/** Makes calls for which every official client must return the same result; `ask` makes one call with the client. */
async function holdClient(ask: Ask): Promise<void> {
  const play = (content: string): void => platform.upstream.play({ kind: 'answer', content, frameLength: 16 });
  for (const stream of [false, true]) {
    play('a healthy answer');
    expect(await ask({ content: 'Hello.', stream })).toEqual({ kind: 'complete', text: 'a healthy answer' });
    const before = platform.proxy.seen.length;
    expect(await ask({ content: `about ${deniedTerm}`, stream })).toMatchObject({
      kind: 'raised',
      status: 403,
      type: 'guardrail_blocked',
      code: 'policy_denied',
    });
    platform.proxy.inject({ kind: 'reset' });
    expect(await ask({ content: 'Hello.', stream })).toMatchObject({
      kind: 'raised',
      status: 503,
      type: 'guardrail_error',
      code: 'network',
    });
    platform.proxy.inject({ kind: 'pass' });
    // The client sends a denied request once, and a request whose check fails three times; the gateway attempts each
    // check twice.
    expect(platform.proxy.seen.length - before).toBe(1 + 3 * 2);
  }
  play(`tell ${maskedTerm}`);
  expect(await ask({ content: 'Hello.', stream: false })).toEqual({ kind: 'complete', text: `tell ${replacement}` });
  await holdStreamErrors(ask);
}

/** In both official clients, an error inside of a stream raises an exception after the text that has passed. */
async function holdStreamErrors(ask: Ask): Promise<void> {
  platform.upstream.play({ kind: 'answer', content: `${words} ${deniedTerm} ${words}`, frameLength: 16 });
  const blocked = await ask({ content: 'Hello.', stream: true });
  expect(blocked).toMatchObject({ kind: 'raised', type: 'guardrail_blocked', code: 'policy_denied' });
  expect(words.startsWith(blocked.text) && blocked.text.length > 0).toBe(true);

  let windows = 0;
  platform.proxy.inject((check) => {
    windows += check.path === '/response' ? 1 : 0;
    return windows > 2 ? { kind: 'reset' } : { kind: 'pass' };
  });
  platform.upstream.play({ kind: 'answer', content: words, frameLength: 16 });
  const failed = await ask({ content: 'Hello.', stream: true });
  expect(failed).toMatchObject({ kind: 'raised', type: 'guardrail_error', code: 'network' });
  expect(words.startsWith(failed.text) && failed.text.length > 0).toBe(true);
}

/** Makes calls with one Python process, with one line of input for each call. */
function askThrough(child: ChildProcess): Ask {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the Python process has no pipes');
  const lines = createInterface({ input: stdout });
  return async (call) => {
    stdin.write(`${JSON.stringify({ ...call, model: alias })}\n`);
    const [line] = (await once(lines, 'line')) as [string];
    return JSON.parse(line) as Told;
  };
}

test('a client can append the message of each answer to the conversation unchanged', async () => {
  const client = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.key });
  const message = { role: 'assistant', content: 'an answer', refusal: null, annotations: [], reasoning_content: 'why' };
  const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  const body = JSON.stringify({ ...answer, choices });
  platform.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'first question' }];
  for (const question of ['second question', 'third question']) {
    const completion = await client.chat.completions.create({ model: alias, messages });
    const answered = completion.choices[0]?.message;
    if (answered === undefined) throw new Error('the answer has no message');
    messages.push(answered, { role: 'user', content: question });
  }
  await client.chat.completions.create({ model: alias, messages });
  const sent = JSON.parse(platform.upstream.seen.at(-1)?.text ?? '') as { messages: object[] };
  expect(sent.messages).toHaveLength(5);
  expect(sent.messages.filter((one) => 'role' in one && one.role === 'assistant')).toEqual([message, message]);
  const denying = [...messages, { ...message, content: `about ${deniedTerm}` } as OpenAI.ChatCompletionMessageParam];
  await expect(client.chat.completions.create({ model: alias, messages: denying })).rejects.toMatchObject({
    status: 403,
  });
});

describe('the official clients', () => {
  verifies(
    [
      'gateway:stream:ordinary-chat-request',
      'gateway:stream:enabled-for-profile',
      'gateway:stream:http-200-then-blocked',
    ],
    'openai for Node.js receives complete and streamed answers, and raises an exception for every refusal and both stream errors',
    () => holdClient(askNode),
  );

  verifies(
    ['gateway:stream:ordinary-chat-request'],
    'openai for Python receives complete and streamed answers, and raises an exception for every refusal and both stream errors',
    async (context: TestContext) => {
      const python = await preparePython(fileURLToPath(new URL('./requirements.txt', import.meta.url)));
      if (!python.ok) return context.skip(python.reason);
      const script = fileURLToPath(new URL('./ask.py', import.meta.url));
      const child = spawn(python.path, [script, `${platform.url}/v1`, platform.key], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' },
      });
      try {
        await holdClient(askThrough(child));
      } finally {
        child.kill();
      }
    },
  );
});
