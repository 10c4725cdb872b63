import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { sectionSchema } from '#contracts/policy';
import { until } from '#kit/testing/until';
import { startCheckProxy } from '../../../e2e/support/check-proxy.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { policySection, startPolicy } from '../testing/start-policy.ts';
import { runtimeToken, says, startWorld, type World } from '../testing/start-world.ts';
import { contentOf, eventsOf } from '../testing/stream-script.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => world.upstream.forget());

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGlkZGVu' } };
const call = { id: 'call-1', type: 'function', function: { name: 'weather', arguments: '{"city":"Tver"}' } };
const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };

describe('under the current profile, which the older ones refuse', () => {
  verifies(
    ['guardrail:versioning:current-profile-streaming'],
    'the current profile serves streamed answers',
    async () => {
      world.upstream.play({ kind: 'answer', content: 'fine weather' });
      const answer = await world.chat({ ...says('hi'), stream: true });
      const events = eventsOf(await answer.text());
      expect(answer.status).toBe(200);
      expect(contentOf(events)).toBe('fine weather');
      expect(events.at(-1)).toBe('[DONE]');
    },
  );

  verifies(
    ['guardrail:versioning:current-profile-tool-calls'],
    'the current profile serves tool calls and their results',
    async () => {
      world.upstream.play({ kind: 'answer', content: 'fine weather' });
      const messages = [
        { role: 'user', content: 'How is the weather?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call-1', content: 'sunny' },
      ];
      const answer = await world.chat({ messages, tools: [tool] });
      expect(answer.status).toBe(200);
      expect(JSON.parse(world.upstream.seen.at(-1)?.text ?? '')).toMatchObject({ messages, tools: [tool] });
    },
  );

  verifies(
    ['guardrail:versioning:current-profile-images'],
    'the current profile serves messages with images',
    async () => {
      world.upstream.play({ kind: 'answer', content: 'a gate' });
      const content = [{ type: 'text', text: 'What is this?' }, image];
      const answer = await world.chat(says(content));
      expect(answer.status).toBe(200);
      expect(JSON.parse(world.upstream.seen.at(-1)?.text ?? '')).toMatchObject({
        messages: [{ role: 'user', content }],
      });
    },
  );
});

describe('the streaming window', () => {
  verifies(
    ['guardrail:limits:stream-window-fixed'],
    'the windows of a stream are the same under every policy, and no policy can set them',
    async () => {
      const [smallest, largest] = await Promise.all([windowsUnder(8_192), windowsUnder(131_072)]);
      expect(largest).toEqual(smallest);
      const [first = 0, ...later] = smallest;
      expect([smallest.length, first]).toEqual([5, 1_020]);
      for (const bytes of later.slice(0, -1)) {
        expect(bytes).toBeGreaterThan(960 + 250);
        expect(bytes).toBeLessThanOrEqual(1_280);
      }
      for (const member of ['windowBytes', 'overlapBytes', 'window', 'overlap']) {
        expect(sectionSchema.safeParse(policySection()).success).toBe(true);
        expect(sectionSchema.safeParse({ ...policySection(), [member]: 2_048 }).success).toBe(false);
      }
    },
  );
});

/** The sizes of the windows in which one long answer is judged, bytes of UTF-8. */
async function windowsUnder(maxBodyBytes: number): Promise<readonly number[]> {
  await using stack = new AsyncDisposableStack();
  const sections = { request: policySection(), response: policySection() };
  const policy = stack.use(await startPolicy(world.folder, runtimeToken, sections, { limits: { maxBodyBytes } }));
  const checks = stack.use(await startCheckProxy(policy.runtime.url));
  const alias = `window-${maxBodyBytes}`;
  const guard = routeGuard({ ...policy.pin, addresses: [checks.url] }, undefined, { maxBodyBytes });
  world.gateway.routes.put(storedRoute(alias, routeSpec(alias, `${world.upstream.url}/v1`, guard)));
  world.upstream.play({ kind: 'answer', content: 'word '.repeat(1_000), frameLength: 5 });
  await until('the route is taken', async () => {
    const answer = await world.chat({ model: alias, ...says('hi'), stream: true });
    return (await answer.text()).includes('[DONE]');
  });
  return checks.seen
    .filter(({ path }) => path === '/response')
    .map(({ body }) => {
      const parsed = JSON.parse(body) as { body: { choices: { message: { content: string } }[] } };
      return Buffer.byteLength(parsed.body.choices[0]?.message.content ?? '');
    });
}
