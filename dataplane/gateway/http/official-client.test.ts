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

/** The error that a call raises. */
async function raised(call: Promise<unknown>): Promise<APIError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError)) throw new Error('no error of the API was raised');
  return error;
}

/** What a client holds of a stream: only an answer that ended well is complete. */
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
  test('completes, streams, embeds and lists models', async () => {
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

  test('raises a deny as 403 and a failed check as 503, each asked for once', async () => {
    world.upstream.play({ kind: 'answer', content: words.deniedOutput });
    world.upstream.forget();
    const blocked = await raised(client.chat.completions.create({ model: 'model', messages }));
    expect(blocked).toMatchObject({ status: 403, type: 'guardrail_blocked', code: 'policy_denied' });
    expect(world.upstream.seen).toHaveLength(1);
    world.checks.inject(stage('/request'));
    const failed = await raised(client.chat.completions.create({ model: 'model', messages }));
    world.checks.inject({ kind: 'pass' });
    expect(failed).toMatchObject({ status: 503, type: 'guardrail_error', code: 'network' });
    expect(world.upstream.seen).toHaveLength(1);
  });

  verifies(
    [
      'gateway:client:parses-error-events',
      'gateway:client:marks-incomplete',
      'gateway:client:no-success-from-partial',
      'gateway:stream:http-200-then-blocked',
    ],
    'raises what stops a stream, so that its text so far is no answer',
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
