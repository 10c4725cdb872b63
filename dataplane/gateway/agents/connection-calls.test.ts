import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectionAudience } from '#contracts/connections';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import type { RoutedVersion } from '#resources/agent-route';
import { startToolServer, type ToolServer } from '../../../e2e/support/start-tool-server.ts';
import { exchangeGrant } from './testing/exchange-grant.ts';
import {
  type AgentPlaneWorld,
  agentId,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from './testing/start-agent-plane.ts';

const loopback = ['127.0.0.0/8'];
const agents = ['question'];
const path = '/people/7';
const otherId = '01890a5d-ac96-774b-bcce-b302099a8071';

let service: ScriptedHttp;
let streaming: ToolServer;
let plain: ToolServer;
let world: AgentPlaneWorld;
let process: ScriptedHttp;
let version: RoutedVersion;
let connections: readonly object[];

beforeAll(async () => {
  service = await startScriptedHttp(answers({ name: 'Ann' }));
  streaming = await startToolServer({ token: 'tool-secret' });
  plain = await startToolServer({ token: 'tool-secret', json: true });
  const crm = { name: 'crm', kind: 'http', url: `${service.url}/api`, agents, allowedNetworks: loopback };
  const tools = ['weather', 'refuse', 'picture', 'absent'];
  const mcp = { kind: 'mcp', agents, allowedNetworks: loopback, credential: 'tool-token', tools };
  connections = [
    { ...crm, methods: ['GET', 'POST'], credential: 'crm-token', maxAnswerBytes: 1_000 },
    { ...crm, name: 'keyed', credential: 'crm-token', credentialHeader: 'x-api-key' },
    { ...crm, name: 'keyless', credential: 'absent-token' },
    { ...crm, name: 'single', maxConcurrency: 1, agents: [...agents, 'answer'] },
    { ...crm, name: 'hasty', timeoutMs: 100 },
    { ...crm, name: 'others', agents: ['other'] },
    { ...crm, name: 'elsewhere', allowedNetworks: ['10.0.0.0/8'] },
    { ...crm, name: 'named', url: service.url.replace('127.0.0.1', 'localhost'), allowedNetworks: ['10.0.0.0/8'] },
    { ...crm, name: 'unlisted' },
    { ...mcp, name: 'streaming', url: streaming.url },
    { ...mcp, name: 'plain', url: plain.url },
    { ...mcp, name: 'stranger', url: plain.url, credential: 'crm-token' },
  ];
  world = await startAgentPlane({ atOnce: 100, perMinute: 10_000 }, connections);
  await writeFile(join(world.secretsDirectory, 'crm-token'), 'crm-secret\n');
  await writeFile(join(world.secretsDirectory, 'tool-token'), 'tool-secret\n');
  process = await world.startProcess();
  for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
  const named = (kind: 'Connection' | 'Mcp', ...names: string[]) => names.map((name) => ({ kind, name }));
  const requires = [
    ...named('Connection', 'crm', 'keyed', 'keyless', 'single', 'hasty', 'others', 'elsewhere', 'named', 'absent'),
    ...named('Mcp', 'streaming', 'plain', 'stranger'),
  ];
  version = routedVersion(process, { requires });
  await world.serve({ versions: [version] });
  world.allow('ann', 'invoke', otherId);
  const other = routedVersion(process, { versionId: secondVersion, requires: named('Connection', 'single') });
  await world.serve({ agentId: otherId, agent: { name: 'answer', uid: otherId }, versions: [other] }, 'answer');
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([service, streaming, plain].map((one) => one?.[Symbol.asyncDispose]()));
});
beforeEach(() => {
  service.forget();
  service.play(answers({ name: 'Ann' }));
});

/** The token of a run for one connection; undefined if the gateway issues no token. */
async function tokenFor(connection: string, agent = agentId): Promise<string | undefined> {
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agent}/mcp`, call)).status).toBe(200);
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: String(process.seen.at(-1)?.headers['x-portcullis-run-grant']),
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    audience: connectionAudience(connection),
  });
  const answer = await fetch(`${world.url}/token`, { method: 'POST', body: form });
  const { access_token: token } = (await answer.json()) as { access_token?: string };
  return token;
}

type Called = { readonly status: number; readonly json: unknown; readonly code: string | undefined };

async function call(connection: string, body: unknown, token?: string, more: RequestInit = {}): Promise<Called> {
  const bearer = token ?? (await tokenFor(connection));
  const answer = await fetch(`${world.url}/connections/${encodeURIComponent(connection)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    body: JSON.stringify(body),
    ...more,
  });
  const json = (await answer.json()) as { error?: { code?: string } };
  return { status: answer.status, json, code: json.error?.code };
}

const get = { method: 'GET', path };

describe('calls of HTTP services', () => {
  test('the gateway adds the credential of a connection, sends nothing else of the run, and returns status and body', async () => {
    expect(await call('crm', { ...get, query: { q: 'a b' } })).toMatchObject({
      status: 200,
      json: { status: 200, body: { name: 'Ann' } },
    });
    const [seen] = service.seen;
    expect([seen?.method, seen?.path, seen?.text]).toEqual(['GET', '/api/people/7?q=a+b', '']);
    const { host, connection: _, ...headers } = seen?.headers ?? {};
    expect(headers).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer crm-secret',
      'user-agent': 'portcullis',
    });
    expect(host).toBe(new URL(service.url).host);
    await call('crm', { method: 'POST', path, body: { name: 'Bob' } });
    expect(service.seen[1]).toMatchObject({ method: 'POST', text: '{"name":"Bob"}' });
    await call('keyed', get);
    expect(service.seen[2]?.headers).toMatchObject({ 'x-api-key': 'crm-secret' });
    expect(service.seen[2]?.headers.authorization).toBeUndefined();
  });

  test('an error of a connected service, a text and an empty body are answers', async () => {
    service.play(answers({ error: 'absent' }, 404));
    expect((await call('crm', get)).json).toEqual({ status: 404, body: { error: 'absent' } });
    service.play(answers('hello', 200, { 'content-type': 'text/plain' }));
    expect((await call('crm', get)).json).toEqual({ status: 200, body: 'hello' });
    service.play((response) => void response.writeHead(204).end());
    expect((await call('crm', get)).json).toEqual({ status: 204, body: null });
  });

  test.each([
    ['a redirect', answers('', 302, { location: 'http://127.0.0.1/x' }), 'answer_invalid'],
    ['a body of 1,001 bytes', answers(`"${'a'.repeat(999)}"`), 'answer_invalid'],
    ['a body that is not JSON', answers('{'), 'answer_invalid'],
    ['another media type', answers('x', 200, { 'content-type': 'image/png' }), 'answer_invalid'],
    ['a content encoding', answers('{}', 200, { 'content-encoding': 'gzip' }), 'answer_invalid'],
    ['the status 429', answers('{}', 429), 'rate_limited'],
    ['the status 503', answers('{}', 503), 'connection_unavailable'],
    ['a closed connection', () => Promise.reject(new Error('closed')), 'connection_unavailable'],
  ] as const)('a connection call in which %s ends with the error %s', async (_, script, code) => {
    service.play(script);
    expect((await call('crm', get)).code).toBe(code);
  });

  test('a connection returns a body of 1,000 bytes as an answer', async () => {
    service.play(answers(`"${'a'.repeat(998)}"`));
    expect((await call('crm', get)).status).toBe(200);
  });

  test.each([
    ['crm', { method: 'DELETE', path }, 403, 'call_forbidden'],
    ['crm', { ...get, body: {} }, 400, 'invalid_request'],
    ['crm', { ...get, path: '/../admin' }, 400, 'invalid_request'],
    ['crm', { ...get, headers: { host: 'x' } }, 400, 'invalid_request'],
    ['crm', { tool: 'weather', arguments: {} }, 400, 'invalid_request'],
    ['keyless', get, 503, 'credential_unavailable'],
    ['elsewhere', get, 403, 'address_refused'],
    ['named', get, 403, 'address_refused'],
  ])('a call of %s with %j is refused without a request to the service', async (connection, body, status, code) => {
    expect(await call(connection, body)).toMatchObject({ status, code });
    expect(service.seen).toEqual([]);
  });

  test('a call ends at the timeout of its connection, and a call beyond the limit of the connection is refused', async () => {
    let release = (): void => undefined;
    service.play((response) => {
      release = () => void response.end('{}');
    });
    expect(await call('hasty', get)).toMatchObject({ status: 504, code: 'deadline_exceeded' });
    const first = call('single', get);
    await until('the first call has begun', () => service.seen.length === 2);
    expect(await call('single', get)).toMatchObject({ status: 429, code: 'too_many_calls' });
    release();
    await first;
    service.play(answers({}));
    expect((await call('single', get)).status).toBe(200);
  });
});

describe('calls whose body arrives slowly', () => {
  /** Begins a call whose body does not end. */
  function begin(connection: string, token: string | undefined) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'content-length': 100 };
    const sent = request(`${world.url}/connections/${connection}`, { method: 'POST', headers });
    const answered = once(sent, 'response').then(([answer]) => (answer as IncomingMessage).statusCode);
    answered.catch(() => undefined);
    sent.on('error', () => undefined).write('{');
    return { sent, answered };
  }

  test('slow bodies of one agent use at most its share of the places of a connection, and calls of another agent keep theirs', async () => {
    const foreign = String(await tokenFor('single', otherId));
    const { sent } = begin('single', await tokenFor('single'));
    await until('the place is taken', async () => (await call('single', get)).code === 'too_many_calls');
    const before = service.seen.length;
    expect((await call('single', get, foreign)).status).toBe(200);
    expect(service.seen.length - before).toBe(1);
    sent.destroy();
    await until('the place is free', async () => (await call('single', get)).status === 200);
  });

  test('a call whose body has not arrived within the timeout of its connection ends', async () => {
    expect(await begin('hasty', await tokenFor('hasty')).answered).toBe(504);
  });
});

describe('rights to call connections', () => {
  test.each(['others', 'unlisted', 'absent'])('a run gets no token for the connection %s', async (connection) => {
    expect(await tokenFor(connection)).toBeUndefined();
  });

  test('a token is accepted for its connection only, and only as long as the route lists the connection', async () => {
    const token = await tokenFor('crm');
    expect((await call('crm', get, token)).status).toBe(200);
    expect(await call('keyed', get, token)).toMatchObject({ status: 401, code: 'unauthenticated' });
    const person = await world.personToken('ann');
    expect(await call('crm', get, person)).toMatchObject({ status: 401, code: 'unauthenticated' });
    await world.serve({ versions: [{ ...version, requires: [] }] });
    expect(await call('crm', get, token)).toMatchObject({ status: 404, code: 'connection_unknown' });
    await world.serve({ versions: [version] });
    expect((await call('crm', get, token)).status).toBe(200);
  });

  test('a run whose version its route no longer lists gets a token for a connection, which accepts it', async () => {
    const [before, grant] = [await tokenFor('crm'), String(process.seen.at(-1)?.headers['x-portcullis-run-grant'])];
    await world.serve({ versions: [{ ...version, versionId: secondVersion, requires: [] }] });
    expect((await call('crm', get, before)).status).toBe(200);
    const traded = await exchangeGrant(world.url, { grant, audience: connectionAudience('crm') });
    expect((await call('crm', get, String(traded.json['access_token']))).status).toBe(200);
    world.removeRoute();
    expect(await call('crm', get, before)).toMatchObject({ status: 404, code: 'connection_unknown' });
    await world.serve({ versions: [version] });
  });

  test('a connection call with another method, media type or size is refused', async () => {
    const token = await tokenFor('crm');
    const headers = { authorization: `Bearer ${token}` };
    expect(await call('crm', {}, token, { method: 'PUT' })).toMatchObject({ status: 405, code: 'method_not_allowed' });
    const typed = { ...headers, 'content-type': 'text/plain' };
    expect((await call('crm', {}, token, { headers: typed })).code).toBe('content_type_not_supported');
    expect((await call('crm', { ...get, query: { q: 'a'.repeat(262_144) } }, token)).code).toBe('request_too_large');
  });

  test('a connection that was removed from the file is unknown, and a file with a problem changes nothing', async () => {
    const token = await tokenFor('crm');
    const write = (list: readonly unknown[]) => writeFile(world.connectionsFile, JSON.stringify({ connections: list }));
    await write(connections.slice(1));
    await until('the connection is removed', async () => (await call('crm', get, token)).code === 'connection_unknown');
    await write([{ name: 'crm' }]);
    expect((await call('keyed', get)).status).toBe(200);
    await write(connections);
    await until('the connection is back', async () => (await call('crm', get, token)).status === 200);
  });
});

describe('calls of MCP servers', () => {
  test.each(['streaming', 'plain'])(
    'a tool of a server of the official SDK that answers with %s is called in a session that then ends',
    async (connection) => {
      const result = await call(connection, { tool: 'weather', arguments: { city: 'Bonn' } });
      expect(result.json).toEqual({ text: 'It is 21 degrees in Bonn.', data: { city: 'Bonn', celsius: 21 } });
      const server = connection === 'plain' ? plain : streaming;
      await until('the session is closed', () => server.sessions.size === 0);
    },
  );

  test.each([
    ['streaming', 'refuse', 422, 'tool_failed'],
    ['plain', 'absent', 422, 'tool_failed'],
    ['plain', 'picture', 502, 'answer_invalid'],
    ['plain', 'other', 403, 'call_forbidden'],
    ['stranger', 'weather', 503, 'connection_unavailable'],
  ])('a call of %s for the tool %s ends with %i %s', async (connection, tool, status, code) => {
    expect(await call(connection, { tool, arguments: {} })).toMatchObject({ status, code });
  });
});

test('connection calls are counted by connection and code, and no log line has a credential or a token', async () => {
  const token = await tokenFor('crm');
  await call('crm', get, token);
  const metrics = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
  for (const labels of ['connection="crm",code="none"', 'connection="none",code="unauthenticated"']) {
    expect(metrics).toMatch(
      new RegExp(`^portcullis_gateway_connection_calls_total\\{${labels},service="gateway"\\} [1-9]`, 'm'),
    );
  }
  const lines = world.gateway.log();
  expect(lines).toContain('connection_call_ended');
  for (const secret of ['crm-secret', 'tool-secret', String(token), 'people/7', 'Bonn']) {
    expect(lines).not.toContain(secret);
  }
});
