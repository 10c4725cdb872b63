import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { gatewayKeySet, readGatewayKeys } from '#identity/gateway-keys';
import { createTestKey, signText, startJwksServer } from '#identity/testing/test-issuer';
import { createWorkloadVerifier } from '#identity/workload-token';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { RelationsUnavailableError } from '#relations/ports';
import { verifies } from '../../../e2e/support/verifies.ts';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  peopleIssuer,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from './testing/start-agent-plane.ts';

let world: AgentPlaneWorld;
let [first, second]: ScriptedHttp[] = [];
const path = `/agents/${agentId}/mcp`;
const body = '{"jsonrpc":"2.0"}';

beforeAll(async () => {
  world = await startAgentPlane();
  [first, second] = [await world.startProcess(), await world.startProcess()];
  world.allow('ann', 'invoke');
  world.allow('vic', 'view');
  await world.serve({
    versions: [routedVersion(first), routedVersion(second, { versionId: secondVersion, version: 'v2' })],
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  first?.forget();
  second?.forget();
  world.asked.length = 0;
});

const reached = () => [first?.seen.length, second?.seen.length];
const codeOf = async (answer: Response) => ((await answer.json()) as { code?: string }).code;

/** The claims of the identity that the newest request to a process had. */
function identityOf(process: ScriptedHttp | undefined) {
  const token = process?.seen.at(-1)?.headers.authorization?.replace('Bearer ', '') ?? '';
  return { token, claims: decodeJwt(token) };
}

describe('a call of an agent', () => {
  verifies(
    ['agent-gateway:identity:checked'],
    'a call of an agent with a missing, forged, expired or foreign identity is refused with 401 and reaches no process',
    async () => {
      const stranger = await createTestKey('ES256', 'people-1');
      const good = decodeJwt(await world.personToken('ann'));
      const bad = [
        undefined,
        '',
        'nonsense',
        await signText(stranger, JSON.stringify(good)),
        await world.personToken('ann', { aud: 'others' }),
        await world.personToken('ann', { iss: 'https://other.example' }),
        await world.personToken('ann', { act: { sub: 'agent-1' } }),
        await signText(world.peopleKey, JSON.stringify({ ...good, exp: 1_700_000_000 })),
      ];
      for (const [at, token] of bad.entries()) {
        const answer = await world.call(path, { token, body });
        expect([at, answer.status, await codeOf(answer)]).toEqual([at, 401, 'unauthenticated']);
      }
      expect([reached(), world.asked]).toEqual([[0, 0], []]);
      expect((await world.call(path, { token: await world.personToken('ann'), body })).status).toBe(200);
      expect(reached()).toEqual([1, 0]);
    },
  );

  verifies(
    ['agent-gateway:invoke:agent-right'],
    'the right invoke is checked at each call of an agent, so that a revoked right ends with the next call',
    async () => {
      const token = await world.personToken('ann');
      expect((await world.call(path, { token, body })).status).toBe(200);
      const [held] = [...world.rights].filter((right) => right.includes('ann'));
      world.rights.delete(held ?? '');
      expect((await world.call(path, { token, body })).status).toBe(404);
      world.rights.add(held ?? '');
      const viewer = await world.call(path, { token: await world.personToken('vic'), body });
      expect([viewer.status, await codeOf(viewer)]).toEqual([403, 'forbidden']);
      expect(reached()).toEqual([1, 0]);
      expect(world.asked.filter((one) => one === `invoke agent:${agentId}`)).toHaveLength(3);
    },
  );

  verifies(
    ['agent-gateway:route-to-version:bound'],
    'an agent path without a version reaches the served version, and a path with a version only that version',
    async () => {
      const token = await world.personToken('ann');
      const of = (version: string) => `/agents/${agentId}/versions/${version}/mcp`;
      expect((await world.call(path, { token, body })).status).toBe(200);
      expect(reached()).toEqual([1, 0]);
      expect((await world.call(of(secondVersion), { token, body })).status).toBe(200);
      expect(reached()).toEqual([1, 1]);
      const unlisted = await world.call(of('01890a5d-ac96-774b-bcce-b302099a8064'), { token, body });
      expect([unlisted.status, await codeOf(unlisted)]).toEqual([404, 'not_found']);
      const unserved = '01890a5d-ac96-774b-bcce-b302099a8099';
      world.allow('ann', 'invoke', unserved);
      const versions = [routedVersion(first as ScriptedHttp)];
      await world.serve({ agentId: unserved, served: undefined, versions }, 'unserved');
      const answer = await world.call(`/agents/${unserved}/mcp`, { token, body });
      expect([answer.status, await codeOf(answer)]).toEqual([503, 'agent_unavailable']);
      expect(reached()).toEqual([1, 1]);
    },
  );

  verifies(
    ['agent-gateway:order:checks-before-identity'],
    'the gateway issues no identity for an agent process unless caller, right and route are all valid',
    async () => {
      const [ann, vic, bob] = await Promise.all(['ann', 'vic', 'bob'].map((name) => world.personToken(name)));
      const missing = `/agents/${agentId}/versions/01890a5d-ac96-774b-bcce-b302099a8064/mcp`;
      const statuses = [
        await world.call(path, { body }),
        await world.call(path, { token: vic, body }),
        await world.call(path, { token: bob, body }),
        await world.call(missing, { token: ann, body }),
      ].map(({ status }) => status);
      world.fault = new RelationsUnavailableError();
      const away = await world.call(path, { token: ann, body });
      world.fault = undefined;
      expect([...statuses, away.status, await codeOf(away)]).toEqual([
        401,
        403,
        404,
        404,
        503,
        'authorization_unavailable',
      ]);
      expect(reached()).toEqual([0, 0]);
    },
  );

  verifies(
    ['agent-gateway:short-lived-identity:this-workload', 'agent-gateway:token:replaced'],
    'the identity that the gateway sends to an agent process is valid for at most a minute and only for that version',
    async () => {
      const token = await world.personToken('ann');
      expect((await world.call(path, { token, body })).status).toBe(200);
      const identity = identityOf(first);
      expect(identity.token).not.toBe(token);
      expect(identity.claims).toMatchObject({
        iss: gatewayIssuer,
        sub: 'ann',
        sub_iss: peopleIssuer,
        agentId,
        versionId: firstVersion,
        scope: 'invoke',
        operation: 'mcp',
      });
      expect(Number(identity.claims.exp) - Number(identity.claims.iat)).toBeLessThanOrEqual(60);
      const keySet = gatewayKeySet(await readGatewayKeys(world.signingKeysFile), new Date());
      await using jwks = await startJwksServer();
      jwks.publish(...keySet.keys);
      // A clock just before the token was issued, because a verifier refuses tokens of the time before its start.
      const startedAt = new Date(Number(identity.claims.iat) * 1_000);
      const at = (ms: number) => {
        let isStarting = true;
        const date = () => {
          const found = isStarting ? startedAt : new Date(startedAt.getTime() + ms);
          isStarting = false;
          return found;
        };
        return { date, now: () => 0 };
      };
      const judge = async (more: object, ms = 0) => {
        const here = { agentId, versionId: firstVersion, ...more };
        const verifier = createWorkloadVerifier({ issuer: gatewayIssuer, jwks: jwks.url, clock: at(ms), ...here });
        const found = await verifier.verify(identity.token, 'mcp');
        return found.kind === 'refusal' ? found.code : found.kind;
      };
      expect(await judge({})).toBe('workload');
      expect(await judge({ versionId: secondVersion })).toBe('audience_wrong');
      expect(await judge({ agentId: secondVersion })).toBe('audience_wrong');
      expect(await judge({}, 66_000)).toBe('expired');
    },
  );

  verifies(
    ['agent-gateway:override:header', 'agent-gateway:override:parameter', 'agent-gateway:override:body'],
    'no header, parameter or body member of a call can choose another agent, version or process',
    async () => {
      const token = await world.personToken('ann');
      const names = ['x-agent-id', 'x-version-id', 'x-forwarded-host', 'x-original-url', 'x-user-id', 'forwarded'];
      const headers = Object.fromEntries(names.map((name) => [name, secondVersion]));
      expect((await world.call(path, { token, body, headers })).status).toBe(200);
      const sent = first?.seen.at(-1);
      expect(names.filter((name) => sent?.headers[name] !== undefined)).toEqual([]);
      const query = `?version=${secondVersion}&versionId=${secondVersion}&agent=x&url=${encodeURIComponent(second?.url ?? '')}`;
      expect((await world.call(`${path}${query}`, { token, body })).status).toBe(200);
      expect(first?.seen.at(-1)?.path).toBe('/mcp');
      const members = { agentId: secondVersion, versionId: secondVersion, agent: 'x', address: second?.url };
      expect((await world.call(path, { token, body: JSON.stringify(members) })).status).toBe(200);
      expect(reached()).toEqual([3, 0]);
      for (const escaped of [
        `/agents/${agentId}/../${secondVersion}/mcp`,
        `/agents/${agentId}/%2e%2e/mcp`,
        `/agents/${agentId}//mcp`,
        `/agents/${agentId}/versions/${secondVersion}%2fmcp`,
        `/agents/${agentId}/tasks/..:cancel`,
        `/agents/${agentId}/health/ready`,
      ]) {
        expect([escaped, (await world.call(escaped, { token, body })).status]).toEqual([escaped, 404]);
      }
      expect(reached()).toEqual([3, 0]);
    },
  );

  verifies(
    ['agent-gateway:token:original-never-passed'],
    'the token of the caller is never forwarded to an agent process, in no header, cookie, parameter or body',
    async () => {
      const token = await world.personToken('ann');
      const headers = { cookie: `session=${token}`, 'proxy-authorization': `Bearer ${token}`, 'x-token': token };
      expect((await world.call(path, { token, body, headers })).status).toBe(200);
      const sent = first?.seen.at(-1);
      expect(JSON.stringify([sent?.headers, sent?.path, sent?.text])).not.toContain(token);
      const inBody = await world.call(path, { token, body: JSON.stringify({ token }) });
      const escaped = token.replace('.', '\\u002e');
      const inEscapes = await world.call(path, { token, body: `{"token":"${escaped}"}` });
      const inQuery = await world.call(`${path}?contextId=${token}`, { token, body });
      const inHeader = await world.call(path, { token, body, headers: { 'a2a-extensions': token } });
      for (const answer of [inBody, inEscapes, inQuery, inHeader]) {
        expect([answer.status, await codeOf(answer)]).toEqual([400, 'token_exposed']);
      }
      expect(reached()).toEqual([1, 0]);
    },
  );

  test('a call of an agent with a body of the largest size is forwarded, and one byte more is refused with 413', async () => {
    const token = await world.personToken('ann');
    expect((await world.call(path, { token, body: 'a'.repeat(16_384) })).status).toBe(200);
    const large = await world.call(path, { token, body: 'a'.repeat(16_385) });
    expect([large.status, await codeOf(large)]).toEqual([413, 'request_too_large']);
    expect(reached()).toEqual([1, 0]);
  });

  test('the answers for a hidden agent and for a missing one differ only in the trace id', async () => {
    const token = await world.personToken('bob');
    const ask = async (target: string) => {
      const answer = await world.call(target, { token, body });
      const text = (await answer.text()).replace(/"traceId":"[0-9a-f]+"/, '');
      const headers = [...answer.headers].filter(([name]) => !['traceparent', 'date'].includes(name));
      return { status: answer.status, headers, text };
    };
    world.asked.length = 0;
    const hidden = await ask(path);
    const questions = world.asked.length;
    const missing = await ask('/agents/01890a5d-ac96-774b-bcce-b302099a8077/mcp');
    expect(missing).toEqual(hidden);
    expect([missing.status, world.asked.length]).toEqual([404, questions * 2]);
  });
});
