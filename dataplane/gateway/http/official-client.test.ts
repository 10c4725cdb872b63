import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../../../e2e/support/verifies.ts';
import { clientKey } from '../testing/start-gateway.ts';
import { startWorld, type World, words } from '../testing/start-world.ts';

let world: World;
let client: OpenAI;

beforeAll(async () => {
  world = await startWorld();
  client = new OpenAI({ baseURL: `${world.gateway.service.url}/v1`, apiKey: clientKey, maxRetries: 2 });
});
afterAll(() => world[Symbol.asyncDispose]());

const messages = [{ role: 'user' as const, content: 'hi' }];
const stage =
  (name: '/request' | '/response') =>
  ({ path }: { path: string }) =>
    ({ kind: path === name ? 'reset' : 'pass' }) as const;

/** The error that a call of the OpenAI client throws. */
async function raised(call: Promise<unknown>): Promise<APIError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError)) throw new Error('no error of the API was raised');
  return error;
}

/** The part of a stream that a client has received. Only an answer that ended without an error is complete. */
async function collect(): Promise<{ complete: boolean; content: string; error: APIError | undefined }> {
  let content = '';
  try {
    for await (const chunk of await client.chat.completions.create({ model: 'model', messages, stream: true })) {
      content += chunk.choices[0]?.delta.content ?? '';
    }
    return { complete: true, content, error: undefined };
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    return { complete: false, content, error };
  }
}

describe('the official client', () => {
  test('the official client completes, streams, embeds and lists models', async () => {
    world.upstream.play({ kind: 'answer', content: 'Привет 🌍', frameLength: 1 });
    const whole = await client.chat.completions.create({ model: 'model', messages });
    expect(whole.choices[0]?.message.content).toBe('Привет 🌍');
    expect(await collect()).toEqual({ complete: true, content: 'Привет 🌍', error: undefined });
    const models = await Array.fromAsync(client.models.list());
    expect(models.map(({ id }) => id)).toEqual(['model', 'open', 'whole']);
    const vectors = JSON.stringify({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] });
    world.upstream.play({ kind: 'raw', body: vectors, contentType: 'application/json' });
    const embedded = await client.embeddings.create({ model: 'model', input: 'hi', encoding_format: 'float' });
    expect(embedded.data[0]?.embedding).toEqual([0.5]);
  });

  test('a client may append the message of an answer to the conversation unchanged', async () => {
    const message = {
      role: 'assistant',
      content: 'first answer',
      refusal: null,
      annotations: [],
      audio: null,
      function_call: null,
      reasoning_content: 'a thought',
    };
    const first = JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    });
    world.upstream.play({ kind: 'raw', body: first, contentType: 'application/json' });
    const conversation: OpenAI.ChatCompletionMessageParam[] = [...messages];
    for (const question of ['and then?', 'and after that?']) {
      const completion = await client.chat.completions.create({ model: 'model', messages: conversation });
      const answered = completion.choices[0]?.message;
      if (answered === undefined) throw new Error('the answer has no message');
      conversation.push(answered, { role: 'user', content: question });
    }
    const last = await client.chat.completions.create({ model: 'model', messages: conversation });
    expect(last.choices[0]?.message.content).toBe('first answer');
    const sent = JSON.parse(world.upstream.seen.at(-1)?.text ?? '') as { messages: object[] };
    expect(sent.messages).toEqual([
      ...messages,
      message,
      { role: 'user', content: 'and then?' },
      message,
      { role: 'user', content: 'and after that?' },
    ]);
    expect(JSON.parse(world.checks.seen.at(-2)?.body ?? '')).toMatchObject({
      body: { messages: [{}, { content: 'first answer' }, {}, { content: 'first answer' }, {}] },
    });
  });

  test('the official client collects a text and a call of more than 1 MiB whose first piece is in the frame of the text', async () => {
    const call = (args: string) => [{ index: 0, function: { arguments: args } }];
    const delta = (one: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: one, finish_reason }] })}\n\n`;
    const text = JSON.stringify({ text: 'word '.repeat(100_000) });
    const [first = '', ...pieces] = text.match(/.{1,40}/gs) ?? [];
    const begin = { index: 0, id: 'call_1', type: 'function', function: { name: 'write', arguments: first } };
    const frames = [
      delta({ role: 'assistant', content: 'Let me check', tool_calls: [begin] }),
      ...pieces.map((one) => delta({ tool_calls: call(one) })),
      delta({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ];
    world.upstream.play({ kind: 'frames', frames, end: 'end' });
    const stream = client.chat.completions.stream({ model: 'model', messages });
    const { message } = (await stream.finalChatCompletion()).choices[0] ?? {};
    expect(message).toMatchObject({ role: 'assistant', content: 'Let me check' });
    expect(message?.tool_calls?.map((one) => 'function' in one && one.function)).toMatchObject([
      { name: 'write', arguments: text },
    ]);
  });

  test('the official client sends a denied request once, and retries while a runtime restarts', async () => {
    world.upstream.play({ kind: 'answer', content: words.deniedOutput });
    world.upstream.forget();
    const blocked = await raised(client.chat.completions.create({ model: 'model', messages }));
    expect(blocked).toMatchObject({ status: 403, type: 'guardrail_blocked', code: 'policy_denied' });
    expect(world.upstream.seen).toHaveLength(1);
    const restarting = { code: 'policy_unavailable', message: 'm', traceId: 't' };
    const retried = await attemptsOf(JSON.stringify(restarting));
    expect(retried).toMatchObject({ attempts: 3, status: 503, type: 'guardrail_error', code: 'policy_unavailable' });
    world.checks.inject(stage('/request'));
    const lost = await raised(client.chat.completions.create({ model: 'model', messages }));
    expect(lost).toMatchObject({ status: 503, type: 'guardrail_error', code: 'network' });
    expect(world.upstream.seen).toHaveLength(1);

    let failures = 0;
    world.checks.inject(({ path }) => {
      if (path !== '/request') return { kind: 'pass' };
      failures += 1;
      // The gateway itself retries once after a lost connection.
      return { kind: failures <= 2 ? 'reset' : 'pass' };
    });
    world.upstream.play({ kind: 'answer', content: 'fine' });
    const answer = await client.chat.completions.create({ model: 'model', messages });
    expect(answer.choices[0]?.message.content).toBe('fine');
    expect(failures).toBe(3);
    world.checks.inject({ kind: 'pass' });
  });

  test('the official client does not retry a check that would fail again for the same text', async () => {
    for (const code of ['verdict_undefined', 'output_too_large', 'match_limit']) {
      const told = await attemptsOf(JSON.stringify({ code, message: 'm', traceId: 't' }));
      expect(told).toEqual({ attempts: 1, status: 503, type: 'guardrail_error', code });
    }
  });

  /**
   * The requests that the official client sends when the runtime fails every check with this response body, and the
   * error that the client throws.
   */
  async function attemptsOf(body: string) {
    let attempts = 0;
    world.checks.inject(() => {
      attempts += 1;
      return { kind: 'rewrite', rewrite: (answer) => ({ ...answer, status: 503, body }) };
    });
    const { status, type, code } = await raised(client.chat.completions.create({ model: 'model', messages }));
    world.checks.inject({ kind: 'pass' });
    return { attempts, status, type, code };
  }

  verifies(
    [
      'gateway:client:parses-error-events',
      'gateway:client:marks-incomplete',
      'gateway:client:no-success-from-partial',
      'gateway:stream:http-200-then-blocked',
    ],
    'the official client raises the error that ends a stream, so that the text before it is not taken for an answer',
    async () => {
      const long = 'word '.repeat(600);
      world.upstream.play({ kind: 'answer', content: `${long}${words.deniedOutput}`, frameLength: 9 });
      const blocked = await collect();
      expect(blocked.complete).toBe(false);
      expect(blocked.error).toMatchObject({ type: 'guardrail_blocked', code: 'policy_denied' });
      expect(long.startsWith(blocked.content)).toBe(true);
      expect(blocked.content.length).toBeGreaterThan(1_000);

      world.upstream.play({ kind: 'answer', content: long, frameLength: 9 });
      let windows = 0;
      world.checks.inject(({ path }) => {
        windows += path === '/response' ? 1 : 0;
        return { kind: windows >= 2 ? 'reset' : 'pass' };
      });
      const failed = await collect();
      world.checks.inject({ kind: 'pass' });
      expect(failed.complete).toBe(false);
      expect(failed.error).toMatchObject({ type: 'guardrail_error', code: 'network' });
      expect(long.startsWith(failed.content)).toBe(true);
    },
  );
});
