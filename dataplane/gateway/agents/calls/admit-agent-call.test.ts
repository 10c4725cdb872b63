import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { type AgentRouteSpec, agentRouteFormat } from '#resources/agent-route';
import { verifies } from '../../../../e2e/support/verifies.ts';
import { createVersionPins } from '../routes/pin-versions.ts';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from '../testing/start-agent-plane.ts';
import { admitAgentCall } from './admit-agent-call.ts';
import { parseCall, type RoutedCall } from './parse-call.ts';

let world: AgentPlaneWorld;
let [first, second]: ScriptedHttp[] = [];
const of = (version?: string) =>
  version === undefined ? `/agents/${agentId}/mcp` : `/agents/${agentId}/versions/${version}/mcp`;
/** Calls that reached each process, without the questions of the gateway about its readiness. */
const reached = () => [first, second].map((process) => process?.seen.filter(({ method }) => method === 'POST').length);

beforeAll(async () => {
  world = await startAgentPlane();
  [first, second] = [await world.startProcess(), await world.startProcess()];
  world.allow('ann', 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  world.whileAsked = undefined;
  await world.serve({ versions: versions(), served: firstVersion });
  first?.forget();
  second?.forget();
});

function versions() {
  return [
    routedVersion(first as ScriptedHttp),
    routedVersion(second as ScriptedHttp, { versionId: secondVersion, version: 'v2' }),
  ];
}

/** Calls while the route changes between the question about rights and its answer. */
async function callThrough(change: () => Promise<void>, path: string): Promise<number> {
  let changed: Promise<void> | undefined;
  world.whileAsked = () => {
    changed ??= change();
    return changed;
  };
  const answer = await world.call(path, { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' });
  await answer.text();
  return answer.status;
}

verifies(
  ['agent-gateway:route-to-version:bound'],
  'a call whose rights are answered after a switch was reported reaches the newly served version',
  async () => {
    const status = await callThrough(() => world.serve({ versions: versions(), served: secondVersion }), of());
    expect([status, reached()]).toEqual([200, [0, 1]]);
  },
);

test('a call to a version that is unlisted while rights are checked is answered with 404 and reaches no process', async () => {
  const only = () => world.serve({ versions: versions().slice(1), served: secondVersion });
  expect([await callThrough(only, of(firstVersion)), reached()]).toEqual([404, [0, 0]]);
});

test('a call whose route does not change while rights are checked reaches the served version', async () => {
  const status = await callThrough(async () => {}, of());
  expect([status, reached()]).toEqual([200, [1, 0]]);
});

test('a public card is read without a token, which calls and cards of other agents require', async () => {
  const card = `/agents/${agentId}/.well-known/agent-card.json`;
  const admit = (path: string, method: string) =>
    world.call(path, method === 'GET' ? { method } : { method, body: '{}' }).then(({ status }) => status);
  expect(await admit(card, 'GET')).toBe(401);
  await world.serve({ versions: versions(), served: firstVersion, cards: 'Public' });
  expect(await admit(card, 'GET')).not.toBe(401);
  for (const method of ['POST', 'PUT', 'DELETE']) {
    expect(await admit(card, method)).toBe(401);
    const refused = await world.call(card, { method, token: await world.personToken('ann') });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
  expect(await admit(of(), 'POST')).toBe(401);
  expect(await admit(`/agents/${agentId}/message:send`, 'POST')).toBe(401);
});

test('a version is in use from the time when the route of a call is read', async () => {
  const pins = createVersionPins(() => {});
  const spec: AgentRouteSpec = {
    formatVersion: agentRouteFormat,
    agentId,
    agent: { name: 'question', uid: agentId },
    served: firstVersion,
    cards: 'View',
    exposure: 'R2',
    versions: versions(),
  };
  let reported: readonly object[] = [];
  const table = {
    isComplete: true,
    lookup() {
      // This task runs before the caller of the admission continues: a switch of versions and its report may happen at
      // this moment.
      queueMicrotask(() => {
        reported = pins.inUse({ taken: [] });
      });
      return { kind: 'route', route: { name: 'question', uid: agentId, version: '1', created: 0, spec } } as const;
    },
  };
  const caller = { kind: 'caller', subject: { issuer: 'people', subject: 'ann' }, actors: [], groups: [] } as const;
  const identify = async () => ({ ...caller, tenant: undefined, parent: undefined, token: undefined });
  const check = async () => true;
  const relations = { check, checkerOf: () => check };
  const callers = { admits: () => true, retryAfterSeconds: 1 };
  const parts = { table, pins, identify, callers, relations, confirmers: new Set<string>() };
  const origin = { rawHeaders: [], remoteAddress: undefined };
  const admitted = await admitAgentCall(parts, parseCall(of()) as RoutedCall, 'POST', origin);
  expect(reported).toEqual([{ agentId, versionId: firstVersion }]);
  admitted.pin[Symbol.dispose]();
  expect(pins.count).toBe(0);
});
