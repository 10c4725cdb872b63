import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { type AgentPlaneWorld, agentId, peopleIssuer, startAgentPlane } from '../testing/start-agent-plane.ts';
import { startJudgedImage, terms } from '../testing/start-judged-image.ts';
import { BudgetsUnavailableError, type RunUse } from './ports.ts';

const used: RunUse[] = [];
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } });
const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } };
const resultOf = (text: string) => ({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } });
const eventOf = (message: object) => `data: ${JSON.stringify(message)}\n\n`;
let isLost = false;
/** Each count of bytes waits for this promise. */
let whileCounted: Promise<void> | undefined;
let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;

beforeAll(async () => {
  world = await startAgentPlane({ atOnce: 1, perMinute: 10_000 }, [], {
    take: async () => undefined,
    async use(agent, person, amounts) {
      expect([agent, person]).toEqual([agentId, { issuer: peopleIssuer, subject: 'ann' }]);
      await whileCounted;
      used.push(amounts);
      if (isLost) throw new BudgetsUnavailableError();
    },
  });
  world.allow('ann', 'invoke');
  image = await startJudgedImage(world);
  await image.serve('MCP');
});
afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  used.length = 0;
  isLost = false;
  whileCounted = undefined;
});

const call = async (signal?: AbortSignal): Promise<Response> =>
  await fetch(`${world.url}/agents/${agentId}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await world.personToken('ann')}` },
    body,
    ...(signal === undefined ? {} : { signal }),
  });
const counted = () => until('the bytes are counted', () => used.length > 0);

test('the bytes of a judged answer count for its person', async () => {
  const answer = JSON.stringify(resultOf('fine'));
  image.play((response) => void response.end(answer));
  expect(await (await call()).text()).toBe(answer);
  await counted();
  expect(used).toEqual([{ tokens: 0, bytes: body.length + answer.length }]);
});

test.each([
  ['are counted', false],
  ['cannot be counted', true],
])(
  'the bytes of an answer that the policy denies late count as sent: its end has the same code if they %s',
  async (_what, lost) => {
    isLost = lost;
    image.play((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${eventOf(progress)}${eventOf(resultOf(terms.denied))}`);
    });
    expect(await (await call()).text()).toContain('"code":"guardrail_denied"');
    await counted();
    expect(used).toEqual([{ tokens: 0, bytes: body.length + eventOf(progress).length }]);
  },
);

test('a denied answer of which nothing was sent counts the bytes of the request', async () => {
  image.play((response) => void response.end(JSON.stringify(resultOf(terms.denied))));
  expect((await call()).status).toBe(403);
  await counted();
  expect(used).toEqual([{ tokens: 0, bytes: body.length }]);
});

test('a refusal and the next run of its caller do not wait until the bytes are counted, which happens once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  whileCounted = promise;
  image.play((response) => void response.end(JSON.stringify(resultOf(terms.denied))));
  // The caller may have one run at a time.
  for (let calls = 0; calls < 2; calls += 1) expect((await call()).status).toBe(403);
  expect(used).toEqual([]);
  resolve();
  await until('the bytes are counted', () => used.length === 2);
  expect(used).toEqual(Array.from({ length: 2 }, () => ({ tokens: 0, bytes: body.length })));
});

test('a call that no process received counts no bytes', async () => {
  image.play((response) => void response.destroy());
  expect((await call()).status).toBe(503);
  image.play((response) => void response.end(JSON.stringify(resultOf('fine'))));
  expect((await call()).status).toBe(200);
  await counted();
  expect(used).toHaveLength(1);
});

// This test is the last one, because the run that its client left counts for its caller for 30 s more.
test('the bytes of a judged stream that its client left count for its person', async () => {
  image.play((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(eventOf(progress));
  });
  const leave = new AbortController();
  await (await call(leave.signal)).body?.getReader().read();
  leave.abort();
  await counted();
  expect(used).toEqual([{ tokens: 0, bytes: body.length + eventOf(progress).length }]);
});
