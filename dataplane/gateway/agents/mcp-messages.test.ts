import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import type { UsedBudget } from './budgets/ports.ts';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const atOnce = 2;
let world: AgentPlaneWorld;
let process: ScriptedHttp;
let taken = 0;
let bytes = 0;
let outcome: UsedBudget | undefined;
const ends: (() => void)[] = [];

beforeAll(async () => {
  world = await startAgentPlane({ atOnce, perMinute: 10_000 }, [], {
    async take() {
      taken += 1;
      return outcome;
    },
    async use(_agent, _person, used) {
      bytes += used.bytes;
    },
  });
  world.allow('ann', 'invoke');
  const card = { name: 'question' };
  process = await world.startProcess((response, { path, text }) => {
    if (path === '/.well-known/agent-card.json') return response.end(JSON.stringify(card));
    if (!text.includes('tools/call')) return response.end('{}');
    return ends.push(() => response.end('{}'));
  });
  await world.serve({ versions: [routedVersion(process, { modes: ['A2A', 'MCP'], cardDigest: digestOf(card) })] });
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  for (const end of ends.splice(0)) end();
  process.forget();
  taken = 0;
  bytes = 0;
  outcome = undefined;
});

async function post(message: object | string) {
  const token = await world.personToken('ann');
  const body = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
  const answer = await world.call(`/agents/${agentId}/mcp`, { token, body });
  await answer.text();
  return answer.status;
}

const call = { id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } };
const controls = [
  { id: 2, method: 'ping' },
  { method: 'notifications/cancelled', params: { requestId: 1 } },
  { method: 'notifications/initialized' },
  { id: 3, method: 'initialize', params: {} },
  { id: 4, method: 'tools/list' },
];

test('a caller with all of its runs of a flow can cancel one over MCP, ping and list tools, and begin no other run', async () => {
  const running = [post(call), post(call)];
  await until('both calls are in the process', () => ends.length === atOnce);
  for (const control of controls) expect([control.method, await post(control)]).toEqual([control.method, 200]);
  for (const other of [call, { id: 5, method: 'other' }, '{"jsonrpc":"2.0","method":"ping","method":"ping"}', '{']) {
    expect(await post(other)).toBe(429);
  }
  for (const end of ends.splice(0)) end();
  expect(await Promise.all(running)).toEqual([200, 200]);
  const granted = process.seen.filter(({ headers }) => headers['x-portcullis-run-grant'] !== undefined);
  expect([granted.length, taken]).toEqual([atOnce, atOnce]);
});

test('the messages of MCP to a flow that begin no run use no run of a budget, are possible without any left, and count their bytes', async () => {
  outcome = { limit: 'runs', span: 'day', retryAfterSeconds: 60 };
  let sent = 0;
  for (const control of controls) {
    expect(await post(control)).toBe(200);
    sent += JSON.stringify({ jsonrpc: '2.0', ...control }).length + '{}'.length;
  }
  await until('the bytes are counted', () => bytes >= sent);
  expect([taken, bytes]).toEqual([0, sent]);
  expect(await post(call)).toBe(429);
  expect(taken).toBe(1);
});
