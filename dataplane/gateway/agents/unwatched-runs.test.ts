import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import type { Script } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import {
  type AgentPlaneWorld,
  agentId,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from './testing/start-agent-plane.ts';
import { startJudgedImage, terms } from './testing/start-judged-image.ts';

const atOnce = 2;
const card = { name: 'question' };
const bodies: Readonly<Record<string, string>> = {
  mcp: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } }),
  'message:send': JSON.stringify({ message: { parts: [{ text: 'hello' }] } }),
};
const bodyOf = (operation: string) => bodies[operation] ?? bodies['message:send'];
const unguarded = { guardrails: { input: { mode: 'None' }, output: { mode: 'None' } } } as const;
const limits = { ...routedVersion({ url: '' }).limits, concurrency: atOnce };

let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;
/** The version that is served. Its runs that no client follows count for 30 s, so each test has its own version. */
let versionId: string;
let versions = 0;

beforeAll(async () => {
  world = await startAgentPlane({ atOnce, perMinute: 10_000 });
  image = await startJudgedImage(world);
});
afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  versions += 1;
  versionId = `01890a5d-ac96-774b-bcce-${versions.toString(16).padStart(12, '0')}`;
  for (const person of [`ann-${versions}`, `bob-${versions}`]) world.allow(person, 'invoke');
});

const serveImage = (texts = 'judged') =>
  image.serve('both', { versionId, limits, ...(texts === 'judged' ? {} : unguarded) });

async function ask(person: string, operation: string, body = bodyOf(operation), signal?: AbortSignal) {
  const token = await world.personToken(`${person}-${versions}`);
  const answer = await fetch(`${world.url}/agents/${agentId}/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` },
    body: body ?? null,
    signal: signal ?? null,
  });
  const [, code] = /"code":"([a-z_]+)"/.exec(await answer.text()) ?? [];
  return { status: answer.status, code };
}

/**
 * Starts as many runs of a person as allowed, and leaves each of them when its process has reached the state of
 * `begin`.
 */
async function leaveRuns(play: (script: Script) => void, operation: string, begin: Script = () => undefined) {
  const ended = () => world.gateway.log().split('agent_call_ended').length;
  for (let at = 0; at < atOnce; at += 1) {
    const before = ended();
    let isBegun = false;
    play(async (response, request) => {
      await begin(response, request);
      isBegun = true;
    });
    const stop = new AbortController();
    const run = ask('ann', operation, undefined, stop.signal).catch(() => undefined);
    await until('the run has begun', () => isBegun);
    stop.abort();
    await run;
    await until('the gateway has noticed', () => ended() > before);
  }
  play((response) => void response.end('{"task":{"status":{"state":"TASK_STATE_COMPLETED"}}}'));
}

const beginsStream: Script = (response) =>
  new Promise((resolve) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"statusUpdate":{"status":{"state":"TASK_STATE_WORKING"}}}\n\n', resolve);
  });
const beginsBody: Script = (response) =>
  new Promise((resolve) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{', resolve);
  });
const silent: Script = () => undefined;
const tooMany = { status: 429, code: 'too_many_runs' };

test.each([
  ['message:send', 'before its answer', 'judged', silent],
  ['message:send', 'before its answer', 'not judged', silent],
  ['message:send', 'in its answer', 'judged', beginsBody],
  ['message:send', 'in its answer', 'not judged', beginsBody],
  ['message:stream', 'before its first event', 'judged', silent],
  ['message:stream', 'after an event', 'judged', beginsStream],
  ['message:stream', 'after an event', 'not judged', beginsStream],
  ['mcp', 'before its answer', 'judged', silent],
  ['mcp', 'before its answer', 'not judged', silent],
])(
  'a run of an image by %s that its client left %s counts for the caller, the version and the process, if its texts are %s',
  async (operation, _, texts, begin) => {
    await serveImage(texts);
    await leaveRuns(image.play, operation, begin);
    expect(await ask('ann', operation)).toEqual(tooMany);
    expect(await ask('bob', operation)).toEqual(tooMany);
    const next = routedVersion(image.process, { versionId: secondVersion, version: 'v2' });
    await world.serve({ versions: [next] });
    expect(world.gateway.reports.at(-1)?.agents?.inUse).toContainEqual({ agentId, versionId });
  },
);

test.each([
  ['message:send', 'is denied', terms.denied, 403],
  ['message:stream', 'is denied', terms.denied, 403],
  ['message:send', 'passes', 'fine', 200],
  ['message:stream', 'passes', 'fine', 200],
])('a run of an image by %s whose complete answer %s no longer counts', async (operation, _, text, status) => {
  await serveImage();
  image.play((response) => void response.end(JSON.stringify({ message: { role: 'ROLE_AGENT', parts: [{ text }] } })));
  for (let at = 0; at < 2 * atOnce; at += 1) expect((await ask('ann', operation)).status).toBe(status);
});

test('a run of an image that answers with an error, with a redirect or not at all no longer counts', async () => {
  await serveImage();
  for (const [script, status] of [
    [(response) => void response.writeHead(500).end('{"error":{}}'), 500],
    [(response) => void response.writeHead(302, { location: '/' }).end(), 502],
    [(response) => void response.destroy(), 503],
  ] as const satisfies readonly (readonly [Script, number])[]) {
    image.play(script);
    for (let at = 0; at < atOnce; at += 1) expect((await ask('ann', 'message:send')).status).toBe(status);
  }
  image.play((response) => void response.end('{}'));
  expect((await ask('ann', 'message:send')).status).toBe(200);
});

test.each([
  ['mcp', 'counts, because its process continues it', 429],
  ['message:send', 'does not count, because its process ends it', 200],
])('a run of a flow by %s that its client left %s', async (operation, _, status) => {
  const flow = await world.startProcess((response) => void response.end(JSON.stringify(card)));
  const version = routedVersion(flow, { versionId, modes: ['A2A', 'MCP'], cardDigest: digestOf(card) });
  await world.serve({ versions: [version] });
  await leaveRuns(flow.play, operation);
  expect((await ask('ann', operation)).status).toBe(status);
  expect((await ask('bob', operation)).status).toBe(200);
});

test.each(['judged', 'not judged'])(
  'an image does not have to answer before its run has ended, if its texts are %s',
  async (texts) => {
    await serveImage(texts);
    image.play((response) => void response.end('{}'));
    const received = async (operation: string, sent: object) => {
      await ask('ann', operation, JSON.stringify(sent));
      return JSON.parse(image.process.seen.at(-1)?.text ?? '') as unknown;
    };
    const message = { parts: [{ text: 'hello' }], metadata: { blocking: false, returnImmediately: true } };
    const configuration = { historyLength: 3 };
    for (const detached of [{ returnImmediately: true }, { return_immediately: true }, { blocking: false }]) {
      const sent = { message, configuration: { ...configuration, ...detached } };
      for (const operation of ['message:send', 'message:stream']) {
        expect(await received(operation, sent)).toEqual({ message, configuration });
      }
    }
    const params = { name: 'ask', arguments: { task: { ttl: 1 } } };
    const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    expect(await received('mcp', { ...tool, params: { ...params, task: { ttl: 60_000 } } })).toEqual({
      ...tool,
      params,
    });
  },
);

test('a message in which nothing is judged or removed reaches an image byte by byte', async () => {
  await serveImage('not judged');
  image.play((response) => void response.end('{}'));
  const sent = ' { "message": { "parts": [ { "text": "hello" } ] }, "configuration": { "historyLength": 3.0 } }';
  await ask('ann', 'message:send', sent);
  expect(image.process.seen.at(-1)?.text).toBe(sent);
});
