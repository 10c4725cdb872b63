import { afterEach, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { until } from '#kit/testing/until';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage } from './testing/start-judged-image.ts';

const atOnce = 3;
const mebibyte = 1_048_576;
const people = ['ann', 'bob', 'eve', 'joe'];
const empty = '{"tasks":[]}';
/** Spaces are held, and are neither judged nor sent. */
const [padded, end] = [`{"tasks":[]${' '.repeat(3.75 * mebibyte)}`, '}'];
let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;
/** Completes the answers that the process has begun. */
let complete: (() => void)[] = [];

beforeEach(async () => {
  complete = [];
  world = await startAgentPlane({ atOnce, perMinute: 10_000 }, [], undefined, undefined, {
    maxHeldBytes: 32 * mebibyte,
    heldWaitMs: 100,
  });
  for (const person of people) world.allow(person, 'invoke');
  image = await startJudgedImage(world);
  await image.serve('A2A');
  image.play((response) => {
    response.write(padded);
    complete.push(() => response.end(end));
  });
});
afterEach(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

async function list(person = 'ann', operation = 'tasks', method = 'GET') {
  const token = await world.personToken(person);
  const answer = await world.call(`/agents/${agentId}/${operation}`, { token, method });
  const body = await answer.text();
  const [, code] = /"code":"([a-z_]+)"/.exec(body) ?? [];
  return { status: answer.status, code, retryAfter: answer.headers.get('retry-after'), length: body.length };
}
const begun = (count: number) => until(`${count} answers have begun`, () => complete.length === count);

test('a caller has as many concurrent calls of an image that start no run as it may have runs, and then 429 until one has ended', async () => {
  image.play((response) => void complete.push(() => response.end(empty)));
  const first = Array.from({ length: atOnce }, () => list());
  await begun(atOnce);
  expect(await list()).toMatchObject({ status: 429, code: 'too_many_runs', retryAfter: '1' });
  const other = list('bob');
  await begun(atOnce + 1);
  complete[0]?.();
  expect(await Promise.race(first)).toMatchObject({ status: 200 });
  const next = list();
  await begun(atOnce + 2);
  for (const end of complete) end();
  for (const answer of [...first, other, next]) expect(await answer).toMatchObject({ status: 200 });
});

test('a caller that uses all places for subscriptions can still cancel a task and end a session', async () => {
  await image.serve('both');
  const event = `data: ${JSON.stringify({ statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } })}\n\n`;
  image.play((response, { path }) => {
    if (!path.endsWith(':subscribe')) return void response.end(path === '/mcp' ? '' : empty);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event);
    complete.push(() => response.end());
  });
  const subscriptions = Array.from({ length: atOnce }, () => list('ann', 'tasks/7:subscribe'));
  await begun(atOnce);
  expect(await list('ann', 'tasks/7')).toMatchObject({ status: 429, code: 'too_many_runs' });
  expect(await list('ann', 'tasks/7:cancel', 'POST')).toMatchObject({ status: 200 });
  expect(await list('ann', 'mcp', 'DELETE')).toMatchObject({ status: 200 });
  for (const end of complete) end();
  for (const answer of subscriptions) expect(await answer).toMatchObject({ status: 200 });
});

test('a caller has as many subscriptions to tasks of a flow as it may have runs, and then 429 until one has ended', async () => {
  const card = { name: 'question' };
  const flow = await world.startProcess((response, { path }) => {
    if (!path.endsWith(':subscribe')) return void response.end(JSON.stringify(card));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    complete.push(() => response.end());
  });
  await world.serve({ versions: [routedVersion(flow, { modes: ['A2A'], cardDigest: digestOf(card) })] });
  const first = Array.from({ length: atOnce }, () => list('ann', 'tasks/7:subscribe'));
  await begun(atOnce);
  expect(await list('ann', 'tasks/8:subscribe')).toMatchObject({ status: 429, code: 'too_many_runs', retryAfter: '1' });
  const other = list('bob', 'tasks/7:subscribe');
  await begun(atOnce + 1);
  complete[0]?.();
  expect(await Promise.race(first)).toMatchObject({ status: 200 });
  const next = list('ann', 'tasks/7:subscribe');
  await begun(atOnce + 2);
  for (const end of complete) end();
  for (const answer of [...first, other, next]) expect(await answer).toMatchObject({ status: 200 });
});

test('a caller has as many concurrent complete answers of a flow as it may have runs, beside its subscriptions, and can end its runs', async () => {
  const card = { name: 'question' };
  const flow = await world.startProcess((response, { path }) => {
    if (path.endsWith(':cancel') || !path.startsWith('/tasks')) return void response.end(JSON.stringify(card));
    if (path.endsWith(':subscribe'))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    complete.push(() => response.end(path.endsWith(':subscribe') ? '' : empty));
  });
  await world.serve({ versions: [routedVersion(flow, { modes: ['A2A'], cardDigest: digestOf(card) })] });
  const subscriptions = Array.from({ length: atOnce }, () => list('ann', 'tasks/7:subscribe'));
  await begun(atOnce);
  const reads = Array.from({ length: atOnce }, () => list());
  await begun(2 * atOnce);
  expect(await list()).toMatchObject({ status: 429, code: 'too_many_runs', retryAfter: '1' });
  expect(await list('ann', 'tasks/7')).toMatchObject({ status: 429, code: 'too_many_runs' });
  expect(await list('ann', 'tasks/7:cancel', 'POST')).toMatchObject({ status: 200 });
  const other = list('bob');
  await begun(2 * atOnce + 1);
  complete[atOnce]?.();
  expect(await Promise.race(reads)).toMatchObject({ status: 200 });
  const next = list();
  await begun(2 * atOnce + 2);
  for (const end of complete) end();
  for (const answer of [...subscriptions, ...reads, other, next]) expect(await answer).toMatchObject({ status: 200 });
});

test('answers of images that do not fit into the bytes of the gateway get 503, and fit once others have ended', async () => {
  const calls = people.flatMap((person) => [list(person), list(person), list(person)]);
  await begun(calls.length);
  const refused = await Promise.race(calls);
  expect(refused).toMatchObject({ status: 503, code: 'overloaded', retryAfter: '1' });
  for (const end of complete) end();
  const ends = await Promise.all(calls);
  expect(ends.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  expect(ends.map(({ status }) => status).every((status) => status === 200 || status === 503)).toBe(true);
  image.play((response) => void response.end(`${padded}${end}`));
  for (const person of people) expect(await list(person)).toMatchObject({ status: 200, length: empty.length });
});
