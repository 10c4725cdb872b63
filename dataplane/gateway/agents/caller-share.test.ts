import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage } from './testing/start-judged-image.ts';

const mebibyte = 1_048_576;
const card = { name: 'question' };
const event = 'data: {"statusUpdate":{"status":{"state":"TASK_STATE_WORKING"}}}\n\n';
const message = JSON.stringify({ message: { parts: [{ text: 'hello' }] } });
let parts = new AsyncDisposableStack();
afterEach(async () => {
  await parts.disposeAsync();
  parts = new AsyncDisposableStack();
});

async function startWorld(atOnce: number, heldMib: number): Promise<AgentPlaneWorld> {
  const bounds = { maxHeldBytes: heldMib * mebibyte, heldWaitMs: 100 };
  const world = parts.use(await startAgentPlane({ atOnce, perMinute: 10_000 }, [], undefined, undefined, bounds));
  for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
  return world;
}

const limits = { ...routedVersion({ url: '' }).limits, requestBytes: mebibyte, concurrency: 64 };

/** Serves a process that answers its card itself and everything else as `play` specifies. */
async function serveFlow(world: AgentPlaneWorld): Promise<ScriptedHttp> {
  const answer = JSON.stringify(card);
  const flow = await world.startProcess((response) => void response.end(answer));
  await world.serve({
    versions: [routedVersion(flow, { modes: ['A2A', 'MCP'], cardDigest: digestOf(card), limits })],
  });
  flow.forget();
  return flow;
}

async function serveImage(world: AgentPlaneWorld) {
  const image = parts.use(await startJudgedImage(world));
  await image.serve('A2A', { limits });
  image.process.forget();
  return image;
}

async function call(world: AgentPlaneWorld, person: string, operation: string, body?: string, method = 'POST') {
  const token = await world.personToken(person);
  const answer = await world.call(`/agents/${agentId}/${operation}`, { token, method, body });
  const [, code] = /"code":"([a-z_]+)"/.exec(await answer.text()) ?? [];
  return { status: answer.status, code };
}

type Sent = { readonly operation: string; readonly method?: string; readonly body?: string; readonly length?: number };

/**
 * Opens a connection on which a person sends several requests together, each with a body of `length` bytes of which
 * only `body` is sent.
 */
async function open(world: AgentPlaneWorld, person: string, requests: readonly Sent[]): Promise<Socket> {
  const { hostname, port } = new URL(world.url);
  const token = await world.personToken(person);
  const socket = parts.adopt(connect(Number(port), hostname), (one) => void one.destroy());
  socket.on('error', () => undefined);
  const texts = requests.map(({ operation, method = 'POST', body = '', length = Buffer.byteLength(body) }) => {
    const head = [
      `${method} /agents/${agentId}/${operation} HTTP/1.1`,
      'Host: gateway',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'A2A-Version: 1.0',
      `Content-Length: ${length}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  });
  socket.write(texts.join(''));
  return socket;
}

test('a caller has as many concurrent calls that end a run or a session as it may have runs, and then 429 until one has ended', async () => {
  const world = await startWorld(3, 256);
  await serveFlow(world);
  const cancel = (person: string) => call(world, person, 'tasks/7:cancel', '{}');
  const slow = await Promise.all(
    Array.from({ length: 3 }, () => open(world, 'ann', [{ operation: 'tasks/7:cancel', body: '{', length: 2 }])),
  );
  await until('the slow calls have every place', async () => (await cancel('ann')).status === 429);
  expect(await cancel('ann')).toEqual({ status: 429, code: 'too_many_runs' });
  expect((await call(world, 'ann', 'mcp', undefined, 'DELETE')).status).toBe(429);
  expect((await call(world, 'ann', 'tasks/7', undefined, 'GET')).status).toBe(200);
  expect((await cancel('bob')).status).toBe(200);
  const [first] = slow;
  first?.write('}');
  expect(String(await once(first as Socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  expect((await cancel('ann')).status).toBe(200);
  expect((await call(world, 'ann', 'mcp', undefined, 'DELETE')).status).toBe(200);
});

test.each([
  ['tasks/first', 'tasks/other', 'GET', ''],
  ['tasks/first:cancel', 'tasks/other:cancel', 'POST', ''],
  ['message:send', 'message:send', 'POST', message],
])(
  'judged answers of %s that their client cannot read yet count as calls of their caller',
  async (first, other, method, body) => {
    const world = await startWorld(3, 256);
    const image = await serveImage(world);
    const answer = JSON.stringify({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    let end: (() => void) | undefined;
    image.play((response, { path, text }) => {
      if (path.includes('first') || text.includes('first')) end = () => response.end(answer);
      else response.end(answer);
    });
    const ofFirst = body.replace('hello', 'first');
    const further = { operation: other, method, body };
    const socket = await open(world, 'ann', [{ ...further, operation: first, body: ofFirst }, further, further]);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes;
    });
    const ended = () => world.gateway.log().split('agent_call_ended').length - 1;
    await until('the others are answered, behind the first', () => end !== undefined && ended() === 2);
    const again = (person: string) => call(world, person, other, body === '' ? undefined : body, method);
    expect(await again('ann')).toEqual({ status: 429, code: 'too_many_runs' });
    expect((await again('bob')).status).toBe(200);
    end?.();
    await until('the client has all answers', () => received.split('HTTP/1.1 200 ').length === 4);
    expect((await again('ann')).status).toBe(200);
  },
);

test('answers that wait for another one on a closed connection no longer count', async () => {
  const world = await startWorld(2, 256);
  const image = await serveImage(world);
  let isHeld = false;
  image.play((response, { path }) => {
    if (path.includes('first')) isHeld = true;
    else response.end('{}');
  });
  const read = (operation: string) => ({ operation, method: 'GET' });
  const socket = await open(world, 'ann', [read('tasks/first'), read('tasks/other')]);
  const ended = () => world.gateway.log().split('agent_call_ended').length - 1;
  await until('the second is answered, behind the first', () => isHeld && ended() === 1);
  socket.destroy();
  await until('the first has ended', () => ended() === 2);
  const held: (() => void)[] = [];
  image.play((response) => void held.push(() => response.end('{}')));
  const both = [1, 2].map(() => call(world, 'ann', 'tasks/other', undefined, 'GET'));
  await until('the caller has all of its places', () => held.length === 2);
  for (const end of held) end();
  for (const one of both) expect((await one).status).toBe(200);
});

test.each([1, 16_384, 16_385, 65_536, 65_537, 200_000])(
  'a body of %i bytes reaches the process of a flow completely, with its length',
  async (length) => {
    const world = await startWorld(3, 256);
    const flow = await serveFlow(world);
    const body = JSON.stringify(Array.from({ length: 40_000 }, (_, at) => at)).slice(0, length);
    expect((await call(world, 'ann', 'message:send', body)).status).toBe(200);
    const [seen] = flow.seen;
    expect([seen?.headers['content-length'], seen?.text === body]).toEqual([String(length), true]);
  },
);

test.each([
  ['a flow', 'message:send'],
  ['a flow', 'message:stream'],
  ['an image', 'message:send'],
  ['an image', 'message:stream'],
])('the body of a run of %s counts only until its process has it: %s', async (kind, operation) => {
  const world = await startWorld(16, 4);
  const { process, play } =
    kind === 'an image'
      ? await serveImage(world)
      : await serveFlow(world).then((flow) => ({ process: flow, play: flow.play }));
  const held: (() => void)[] = [];
  play((response) => {
    if (operation === 'message:stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event);
    }
    held.push(() => response.end(operation === 'message:stream' ? '' : '{}'));
  });
  const body = message.padEnd(900_000);
  const runs: Promise<{ status: number }>[] = [];
  for (let at = 1; at <= 8; at += 1) {
    runs.push(call(world, 'ann', operation, body));
    await until(`${at} runs have reached the process`, () => process.seen.length === at);
  }
  for (const end of held) end();
  for (const run of runs) expect((await run).status).toBe(200);
});

test('a long stream does not reserve a share of the bytes of the gateway', async () => {
  const world = await startWorld(3, 16);
  const image = await serveImage(world);
  // At 256 bytes for each value, this body needs more than the half of the budget that is open to all calls; the other
  // half is reserved for the oldest call.
  const values = JSON.stringify({ tasks: Array.from({ length: 32_000 }, () => null) });
  let end: (() => void) | undefined;
  image.play((response, { path }) => {
    if (path !== '/message:stream') return void response.end(values.padEnd(3 * mebibyte));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event);
    end = () => response.end();
  });
  const stream = call(world, 'bob', 'message:stream', message);
  await until('the stream has begun', () => end !== undefined);
  expect((await call(world, 'ann', 'tasks', undefined, 'GET')).status).toBe(200);
  end?.();
  expect((await stream).status).toBe(200);
});

test('slow bodies of one caller do not use up the bytes of the gateway for other callers', async () => {
  const world = await startWorld(16, 8);
  await serveFlow(world);
  const sent = { operation: 'message:send', body: message.padEnd(600_000), length: mebibyte };
  const slow = await Promise.all(Array.from({ length: 16 }, () => open(world, 'ann', [sent])));
  const refusal = Promise.withResolvers<string>();
  for (const socket of slow) socket.once('data', (bytes) => refusal.resolve(String(bytes)));
  expect(await refusal.promise).toMatch(/^HTTP\/1\.1 503 /);
  expect((await call(world, 'bob', 'message:send', sent.body)).status).toBe(200);
});
