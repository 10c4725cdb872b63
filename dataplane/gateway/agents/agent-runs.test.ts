import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readGatewayKeys } from '#identity/gateway-keys';
import { rotateGatewayKeys } from '#identity/testing/rotate-gateway-keys';
import type { Script, ScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { agentSubject } from '#relations/subject';
import type { RoutedVersion } from '#resources/agent-route';
import { exchangeGrant } from './testing/exchange-grant.ts';
import {
  type AgentPlaneWorld,
  agentId,
  gatewayIssuer,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from './testing/start-agent-plane.ts';

const path = `/agents/${agentId}/mcp`;
const body = '{"jsonrpc":"2.0"}';
const otherAgent = '01890a5d-ac96-774b-bcce-b302099a8077';
const plain: Script = (response) => void response.end('{}');

let world: AgentPlaneWorld;
let [first, second]: ScriptedHttp[] = [];
let version: RoutedVersion;

beforeAll(async () => {
  world = await startAgentPlane({ atOnce: 2, perMinute: 10_000 });
  [first, second] = [await world.startProcess(), await world.startProcess()];
  for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
  const requires: RoutedVersion['requires'] = [
    { kind: 'Model', name: 'small' },
    { kind: 'Collection', name: 'handbook' },
    { kind: 'Agent', name: 'helper' },
  ];
  version = routedVersion(first, { requires });
  await world.serve({ versions: [version] });
  const helper = routedVersion(second, { versionId: secondVersion });
  await world.serve({ agentId: otherAgent, versions: [helper] }, 'helper');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  first?.forget();
  first?.play(plain);
  second?.forget();
});

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

/** The grant that the process gets with a call of a person. */
async function grantOf(person: string): Promise<string> {
  expect((await world.call(path, { token: await world.personToken(person), body })).status).toBe(200);
  return String(first?.seen.at(-1)?.headers['x-portcullis-run-grant']);
}

const exchange = (grant: string, audience: string, more: Readonly<Record<string, string>> = {}) =>
  exchangeGrant(world.url, { ...more, grant, audience });

describe('the token exchange', () => {
  test('a run exchanges its grant for tokens of the audiences that its agent version requires, and of no others', async () => {
    const grant = await grantOf('ann');
    for (const audience of ['urn:portcullis:models', 'urn:portcullis:retrieval', 'urn:portcullis:catalogue']) {
      const { status, json } = await exchange(grant, audience);
      expect([audience, status, json['token_type']]).toEqual([audience, 200, 'Bearer']);
      const claims = claimsOf(String(json['access_token']));
      expect(claims).toMatchObject({ iss: gatewayIssuer, aud: audience, sub: 'ann' });
      expect(Number(claims['exp']) - Number(claims['iat'])).toBeLessThanOrEqual(60);
    }
    const refused = ['urn:portcullis:memory', 'urn:portcullis:agent:stranger', 'https://elsewhere.example'];
    for (const audience of refused) {
      const { status, json } = await exchange(grant, audience);
      expect([audience, status, json['error']]).toEqual([audience, 400, 'invalid_target']);
    }
  });

  test('a run may call the catalogue only if its agent version requires another agent', async () => {
    const grant = await grantOf('ann');
    const { status, json } = await exchange(grant, 'urn:portcullis:catalogue');
    expect(status).toBe(200);
    const claims = { sub: 'ann', sub_iss: expect.any(String), act: { sub: agentId } };
    expect(claimsOf(String(json['access_token']))).toMatchObject(claims);
    const requires = version.requires.filter(({ kind }) => kind !== 'Agent');
    await world.serve({ versions: [{ ...version, requires }] });
    const refused = await exchange(grant, 'urn:portcullis:catalogue');
    expect([refused.status, refused.json['error']]).toEqual([400, 'invalid_target']);
    expect((await exchange(grant, 'urn:portcullis:models')).status).toBe(200);
    await world.serve({ versions: [version] });
  });

  test('a token for another agent requires the right of both the user and the calling agent, and names both', async () => {
    const grant = await grantOf('ann');
    const audience = 'urn:portcullis:agent:helper';
    expect((await exchange(grant, audience)).json).toMatchObject({ error: 'invalid_target' });
    world.allow('ann', 'invoke', otherAgent);
    expect((await exchange(grant, audience)).json).toMatchObject({ error: 'invalid_target' });
    const agent = agentSubject({ issuer: gatewayIssuer, subject: agentId });
    world.rights.add(`${agent} invoke agent:${otherAgent}`);
    const { json } = await exchange(grant, audience);
    const answer = await world.call(`/agents/${otherAgent}/mcp`, { token: String(json['access_token']), body });
    expect(answer.status).toBe(200);
    const identity = second?.seen.at(-1)?.headers.authorization?.replace('Bearer ', '') ?? '';
    expect(claimsOf(identity)).toMatchObject({ sub: 'ann', act: { sub: agentId } });
    // The token names its agent, so that it opens no other agent.
    expect((await world.call(path, { token: String(json['access_token']), body })).status).toBe(401);
    world.rights.delete(`${agent} invoke agent:${otherAgent}`);
    const revoked = await world.call(`/agents/${otherAgent}/mcp`, { token: String(json['access_token']), body });
    expect(revoked.status).toBe(404);
  });

  test('an altered grant, another kind of token and a wider request are refused in place of the grant of a run', async () => {
    const grant = await grantOf('ann');
    const identity = first?.seen.at(-1)?.headers.authorization?.replace('Bearer ', '') ?? '';
    const models = 'urn:portcullis:models';
    for (const bad of [`${grant.slice(0, -8)}AAAAAAAA`, identity, await world.personToken('ann'), 'nonsense']) {
      expect(await exchange(bad, models)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    }
    for (const more of [{ scope: 'all' }, { resource: 'https://x.example' }, { actor_token: grant }]) {
      expect(await exchange(grant, models, more)).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    }
    const held = [...world.rights].filter((right) => right.includes('ann') && right.endsWith(agentId));
    for (const right of held) world.rights.delete(right);
    expect(await exchange(grant, models)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    for (const right of held) world.rights.add(right);
    expect((await exchange(grant, models)).status).toBe(200);
  });

  test('after a rotation of the gateway keys the next key is published, and calls and grants of the previous one stay valid', async () => {
    const grant = await grantOf('ann');
    rotateGatewayKeys(world.signingKeysFile, new Date(Date.now() + 60_000));
    const [{ kid }] = await readGatewayKeys(world.signingKeysFile);
    await until('the next key is published', async () => {
      const { keys } = (await (await fetch(`${world.url}/.well-known/jwks.json`)).json()) as {
        keys: { kid: string }[];
      };
      return keys.length === 2 && keys.some((key) => key.kid === kid);
    });
    expect((await exchange(grant, 'urn:portcullis:models')).status).toBe(200);
    expect(await exchange(await grantOf('ann'), 'urn:portcullis:models')).toMatchObject({ status: 200 });
  });
});

describe('runs and streams', () => {
  test('a caller has two runs of an agent at a time, and a third is refused with 429 while others are served', async () => {
    const held: (() => void)[] = [];
    first?.play((response) => void held.push(() => response.end('{}')));
    const token = await world.personToken('ann');
    const running = [world.call(path, { token, body }), world.call(path, { token, body })];
    await until('two runs have reached the process', () => held.length === 2);
    const third = await world.call(path, { token, body });
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1']);
    const other = world.call(path, { token: await world.personToken('bob'), body });
    await until('the run of another person has reached the process', () => held.length === 3);
    for (const end of held) end();
    expect((await Promise.all([...running, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
    first?.play(plain);
    expect((await world.call(path, { token, body })).status).toBe(200);
  });

  test('an event of an agent stream reaches the client before the process sends the next event', async () => {
    let next: (() => void) | undefined;
    first?.play((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      next = () => response.end('data: 2\n\n');
    });
    const answer = await world.call(path, { token: await world.personToken('ann'), body });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('data: 1\n\n');
    next?.();
    expect((await reader?.read())?.value).toBe('data: 2\n\n');
    expect((await reader?.read())?.done).toBe(true);
  });

  test('when an agent process breaks off a stream, the client receives an error event', async () => {
    first?.play((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n', () => response.destroy());
    });
    const answer = await world.call(path, { token: await world.personToken('ann'), body });
    const text = await answer.text();
    expect(text).toMatch(/^data: 1\n\nevent: error\ndata: .*agent_unavailable.*\n\n$/s);
  });

  test('when a client disconnects, the request to the agent process is aborted and the version is released', async () => {
    let isClosed = false;
    first?.play((response) => {
      response.once('close', () => {
        isClosed = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const stop = new AbortController();
    const answer = await fetch(`${world.url}${path}`, {
      method: 'POST',
      body,
      signal: stop.signal,
      headers: { authorization: `Bearer ${await world.personToken('ann')}`, 'content-type': 'application/json' },
    });
    await answer.body?.getReader().read();
    stop.abort();
    await until('the request of the process is closed', () => isClosed);
  });

  test('the report of a gateway names an agent version while a call of it runs, even after the route has another version', async () => {
    let end: (() => void) | undefined;
    first?.play((response) => {
      end = () => response.end('{}');
    });
    const running = world.call(path, { token: await world.personToken('ann'), body });
    await until('the call has reached the process', () => end !== undefined);
    const next = routedVersion(second as ScriptedHttp, { versionId: secondVersion, version: 'v2' });
    await world.serve({ versions: [next] });
    const inUse = () => world.gateway.reports.at(-1)?.agents?.inUse.map(({ versionId }) => versionId) ?? [];
    expect(inUse()).toContain(version.versionId);
    end?.();
    expect((await running).status).toBe(200);
    await until('the report no longer names it', () => !inUse().includes(version.versionId));
    first?.play(plain);
    await world.serve({ versions: [version] });
  });
});
