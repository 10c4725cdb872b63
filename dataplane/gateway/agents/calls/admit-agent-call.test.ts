import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { verifies } from '../../../../e2e/support/verifies.ts';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from '../testing/start-agent-plane.ts';

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
  'a call whose rights are answered after a switch was reported reaches the version that is served then',
  async () => {
    const status = await callThrough(() => world.serve({ versions: versions(), served: secondVersion }), of());
    expect([status, reached()]).toEqual([200, [0, 1]]);
  },
);

test('a call to a version that is unlisted while rights are asked for is answered with 404 and reaches no process', async () => {
  const only = () => world.serve({ versions: versions().slice(1), served: secondVersion });
  expect([await callThrough(only, of(firstVersion)), reached()]).toEqual([404, [0, 0]]);
});

test('a call whose route does not change while rights are asked for reaches the served version', async () => {
  const status = await callThrough(async () => {}, of());
  expect([status, reached()]).toEqual([200, [1, 0]]);
});
