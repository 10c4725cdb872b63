import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage } from './testing/start-judged-image.ts';

const bodyBytes = 524_288;
const most = 32_768;
/** This budget holds one body with the largest number of values, at 256 bytes each. */
const maxHeldBytes = bodyBytes + most * 256;
let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;

beforeAll(async () => {
  world = await startAgentPlane(undefined, [], undefined, undefined, { maxHeldBytes, heldWaitMs: 100 });
  world.allow('ann', 'invoke');
  image = await startJudgedImage(world);
  image.play((response) => void response.end('{"task":{"id":"7"}}'));
});
afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** Sends a message with this many values, none of which is a text; the body has `length` bytes. */
async function send(values: number, length = bodyBytes) {
  // The body, the message and the list count as values, too.
  const body = JSON.stringify({ message: { data: Array.from({ length: values - 3 }, () => null) } });
  const token = await world.personToken('ann');
  const answer = await world.call(`/agents/${agentId}/message:send`, { token, body: body.padEnd(length) });
  const [, code] = /"code":"([a-z_]+)"/.exec(await answer.text()) ?? [];
  return { status: answer.status, code };
}
const serve = (more: object = {}) => {
  const { limits } = routedVersion(image.process);
  return image.serve('A2A', { limits: { ...limits, requestBytes: 2 * bodyBytes }, ...more });
};

test('a judged body has at most 32,768 values, and a body with more values is refused with request_too_large', async () => {
  await serve();
  expect(await send(most)).toEqual({ status: 200, code: undefined });
  expect(await send(most + 1)).toEqual({ status: 413, code: 'request_too_large' });
});

test('256 bytes are reserved for each value of a body until it was judged, and a body gets 503 if they do not fit', async () => {
  await serve();
  // The answer fits, because the values of the body are no longer held.
  expect(await send(most)).toEqual({ status: 200, code: undefined });
  expect(await send(most, bodyBytes + 1)).toEqual({ status: 503, code: 'overloaded' });
  expect(await send(most)).toEqual({ status: 200, code: undefined });
});

test('the values of a body that is not judged are not counted, and it has at most 100,000 of them', async () => {
  await serve({ guardrails: { input: { mode: 'None' }, output: { mode: 'None' } } });
  expect(await send(100_000, bodyBytes + 1)).toEqual({ status: 200, code: undefined });
  expect(await send(100_001, bodyBytes + 1)).toEqual({ status: 413, code: 'request_too_large' });
});
