import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { mintAgentCallToken } from '#identity/agent-call-token';
import { type GatewayKeyRing, openGatewayKeyRing } from '#identity/gateway-key-ring';
import { createRunGrantVerifier, mintRunGrant } from '#identity/run-grant';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { agentSubject } from '#relations/subject';
import { agentRouteFormat } from '#resources/agent-route';
import { AgentTable } from '../routes/agent-table.ts';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  peopleIssuer,
  routedVersion,
  startAgentPlane,
} from '../testing/start-agent-plane.ts';
import { exchangeToken } from './exchange-token.ts';

const plannerId = '01890a5d-ac96-774b-bcce-b302099a8079';
const card = { name: 'question' };
const budget = { nodes: 10, modelTokens: 1_000, outputBytes: 10_000 };
const run = { issuer: gatewayIssuer, agentId, subject: { issuer: peopleIssuer, subject: 'ann' } };
let world: AgentPlaneWorld;
let process: ScriptedHttp;
let keys: GatewayKeyRing;

beforeAll(async () => {
  world = await startAgentPlane();
  world.allow('ann', 'invoke');
  world.rights.add(`${agentSubject({ issuer: gatewayIssuer, subject: plannerId })} invoke agent:${agentId}`);
  process = await world.startProcess((response) => void response.end(JSON.stringify(card)));
  const requires = [{ kind: 'Model' as const, name: 'small' }];
  await world.serve({ versions: [routedVersion(process, { requires, modes: ['A2A'], cardDigest: digestOf(card) })] });
  keys = openGatewayKeyRing(world.signingKeysFile);
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Trades a grant of this many milliseconds, signed half a second after a whole one, after this many of them. */
async function tradeAfter(timeoutMs: number, afterMs: number) {
  const begin = Math.floor(Date.now() / 1_000) * 1_000 + 500;
  const at = (ms: number) => ({ now: () => ms, date: () => new Date(begin + ms) });
  const grant = await mintRunGrant({
    ...run,
    key: await keys.signingKey(),
    versionId: firstVersion,
    actors: [],
    runId: randomUUID(),
    mode: 'A2A',
    budget,
    timeoutMs,
    clock: at(0),
  });
  const table = new AgentTable('agents');
  const spec = {
    ...{ formatVersion: agentRouteFormat, agentId, agent: { name: 'question', uid: agentId }, served: firstVersion },
    ...{ cards: 'View', exposure: 'R2' },
    versions: [routedVersion(process, { requires: [{ kind: 'Model', name: 'small' }] })],
  };
  table.observe({ name: 'question', uid: 'uid', version: '1', created: 0, spec });
  table.probed('question', '1', { kind: 'proved' });
  table.complete();
  const jwks = { file: join(world.signingKeysFile, '../gateway.jwks') };
  const result = await exchangeToken(
    {
      table,
      keys,
      issuer: gatewayIssuer,
      grants: createRunGrantVerifier({ issuer: gatewayIssuer, jwks, clock: at(afterMs) }),
      relations: { check: async () => true, checkerOf: () => async () => true },
      connections: { find: () => undefined },
      callers: { admitsTrade: () => true, retryAfterSeconds: 1 },
    },
    { grant, audience: 'urn:portcullis:models', budget: undefined },
    at(afterMs).date,
  );
  if (result.kind === 'error') return result.error;
  return { endsWithGrant: decodeJwt(result.token).exp === decodeJwt(grant).exp, expiresIn: result.expiresIn };
}

test('a run gets tokens until its last moment, which end with its grant, and no token after it', async () => {
  // The grant of a run of 20 s ends 20 s after the whole second in which it was signed.
  expect(await tradeAfter(20_000, 18_499)).toEqual({ endsWithGrant: true, expiresIn: 2 });
  expect(await tradeAfter(20_000, 18_500)).toEqual({ endsWithGrant: true, expiresIn: 1 });
  expect(await tradeAfter(20_000, 19_499)).toEqual({ endsWithGrant: true, expiresIn: 1 });
  expect(await tradeAfter(20_000, 19_500)).toBe('invalid_grant');
});

test('a run of at most a second gets tokens', async () => {
  expect(await tradeAfter(1_000, 0)).toEqual({ endsWithGrant: true, expiresIn: 1 });
  expect(await tradeAfter(1, 499)).toEqual({ endsWithGrant: true, expiresIn: 1 });
});

test('an agent whose run has just ended cancels the task that it has begun, and begins no other', async () => {
  // Within the clock skew that a gateway accepts.
  const past = { now: () => 0, date: () => new Date(Date.now() - 3_000) };
  const token = await mintAgentCallToken({
    ...run,
    key: await keys.signingKey(),
    actors: [{ issuer: gatewayIssuer, subject: plannerId }],
    groups: [],
    budget,
    deadline: new Date(Date.now() - 1_000),
    ttlSeconds: 2,
    clock: past,
  });
  const post = async (path: string) => {
    process.forget();
    const { status } = await world.call(`/agents/${agentId}/${path}`, { token, body: '{}' });
    return [status, process.seen.map((one) => one.path)];
  };
  expect(await post('message:send')).toEqual([504, []]);
  expect(await post('tasks/one:cancel')).toEqual([200, ['/tasks/one:cancel']]);
});
