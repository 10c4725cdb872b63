import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { type FollowedChild, startFollowed } from '#kit/testing/start-followed';
import { until } from '#kit/testing/until';
import { userSubject } from '#relations/subject';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  peopleIssuer,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { routeSpec, storedRoute } from '../../dataplane/gateway/testing/route-builder.ts';
import { served } from '../../dataplane/gateway/testing/start-gateway.ts';
import { root } from '../../hack/check/run-tool.ts';
import { preparePython } from '../support/python.ts';

const folder = join(root, 'examples/sdk-agents');
const model = 'small';
const sendPath = `/agents/${agentId}/message:send`;

type Command =
  | { readonly ok: true; readonly argv: readonly string[] }
  | { readonly ok: false; readonly reason: string };
const languages: readonly (readonly [string, () => Promise<Command>])[] = [
  ['TypeScript', async () => ({ ok: true, argv: [process.execPath, join(folder, 'typescript/example-agent.ts')] })],
  [
    'Python',
    async () => {
      const python = await preparePython(join(folder, 'python/requirements.txt'));
      return python.ok ? { ok: true, argv: [python.path, join(folder, 'python/example_agent.py')] } : python;
    },
  ],
];

/** The headers that the gateway sends with one call. */
type Sent = { readonly authorization: string; readonly 'x-portcullis-run-grant': string };
type Example = { readonly url: string; readonly cardDigest: string; readonly child: FollowedChild };
const recorderCard = { name: 'recorder' };

describe.each(languages)('the example agent in %s', (language, prepare) => {
  let world: AgentPlaneWorld;
  let upstream: ScriptedHttp;
  let recorder: ScriptedHttp;
  let early: Sent;
  let missing: string | undefined;
  let example: Example | undefined;

  async function start(argv: readonly string[], gateway: string): Promise<Example> {
    const settings = { PORTCULLIS_GATEWAY_URL: gateway, PORTCULLIS_GATEWAY_ISSUER: gatewayIssuer, MODEL: model };
    const at = { AGENT_ID: agentId, VERSION_ID: firstVersion, HOST: '127.0.0.1', PORT: '0' };
    const env = { ...process.env, ...settings, ...at, PYTHONDONTWRITEBYTECODE: '1' };
    const child = startFollowed(argv, { cwd: root, env });
    const port = /port (\d+)/.exec(await child.listens(`the example in ${language}`))?.[1];
    const url = `http://127.0.0.1:${port}`;
    const card: unknown = await until(`the example in ${language} answers`, async () => {
      const answer = await fetch(`${url}/.well-known/agent-card.json`).catch(() => undefined);
      return await answer?.json();
    });
    return { url, cardDigest: digestOf(card), child };
  }

  const requires = [{ kind: 'Model', name: model } as const];
  const routeTo = (process: Pick<Example, 'url' | 'cardDigest'>, versionId = firstVersion) =>
    world.serve({
      versions: [routedVersion(process, { versionId, modes: ['A2A'], cardDigest: process.cardDigest, requires })],
    });
  const message = (text: string) => ({ messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] });

  /** The identity that the gateway issues for a call of `ann`, received by a process that replaces the example. */
  async function issued(versionId = firstVersion, operation = 'message:send', person = 'ann'): Promise<Sent> {
    await routeTo({ url: recorder.url, cardDigest: digestOf(recorderCard) }, versionId);
    recorder.forget();
    const token = await world.personToken(person);
    await world.call(`/agents/${agentId}/${operation}`, { token, body: JSON.stringify({ message: message('hi') }) });
    const headers = recorder.seen.find(({ method }) => method === 'POST')?.headers ?? {};
    const { authorization = '', 'x-portcullis-run-grant': grant } = headers;
    return { authorization, 'x-portcullis-run-grant': String(grant) };
  }

  /** Sends a message to the example itself, as a program of the network could. */
  async function send(headers: Readonly<Record<string, string>>, at = example?.url): Promise<number> {
    const body = JSON.stringify({ message: message('hi') });
    const answer = await fetch(`${at}/message:send`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  }

  beforeAll(async () => {
    const command = await prepare();
    missing = command.ok ? undefined : command.reason;
    if (!command.ok) return;
    world = await startAgentPlane();
    upstream = await startScriptedHttp(answers({ choices: [{ message: { role: 'assistant', content: 'fine' } }] }));
    recorder = await startScriptedHttp(answers(recorderCard));
    world.gateway.routes.put(storedRoute(model, routeSpec(model, `${upstream.url}/v1`, { mode: 'None' })));
    await served(world.gateway, [model]);
    for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
    early = await issued();
    // Times in tokens are whole seconds.
    await pause(1_000);
    example = await start(command.argv, world.url);
  });
  afterAll(async () => {
    await example?.child.end();
    for (const one of [world, upstream, recorder]) await one?.[Symbol.asyncDispose]();
  });
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing);
    upstream.forget();
  });

  test('an SDK agent answers a person with the text of a model, which it calls with a token for the person', async () => {
    await routeTo(example as Example);
    const answer = await world.call(sendPath, {
      token: await world.personToken('ann'),
      body: JSON.stringify({ message: message('How are you?') }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'fine' }] } });
    const asked = upstream.seen.filter(({ path }) => path === '/v1/chat/completions');
    expect(asked.map(({ text }) => JSON.parse(text).messages)).toEqual([[{ role: 'user', content: 'How are you?' }]]);
  });

  test('an SDK agent accepts a token of the gateway once, together with the grant of the same call', async () => {
    const { authorization, 'x-portcullis-run-grant': grant } = await issued();
    const other = await issued(firstVersion, 'message:send', 'bob');
    const streaming = await issued(firstVersion, 'message:stream');
    const foreign = await issued(secondVersion);
    const changed = authorization.replace(/\.(.)([^.]*)$/, (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`);
    const both = (one: Partial<Sent>) => send({ authorization, 'x-portcullis-run-grant': grant, ...one });
    expect({
      none: await send({}),
      person: await send({ authorization: `Bearer ${await world.personToken('ann')}` }),
      grant: await send({ authorization: `Bearer ${grant}` }),
      changed: await both({ authorization: changed }),
      ofAnotherCall: await both({ 'x-portcullis-run-grant': other['x-portcullis-run-grant'] }),
      noGrant: await both({ 'x-portcullis-run-grant': authorization.slice(7) }),
      operation: await send({ ...streaming }),
      version: await send({ ...foreign }),
      beforeStart: await send({ ...early }),
    }).toEqual({
      ...{ none: 401, person: 401, grant: 401, changed: 401, ofAnotherCall: 401, noGrant: 401 },
      ...{ operation: 401, version: 401, beforeStart: 401 },
    });
    expect(upstream.seen).toEqual([]);
    await routeTo(example as Example);
    expect([await both({}), await both({})]).toEqual([200, 401]);
  });

  test('an SDK agent accepts one of several equal concurrent calls', async () => {
    const call = await issued();
    await routeTo(example as Example);
    const statuses = await Promise.all(Array.from({ length: 8 }, () => send({ ...call })));
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(401)]);
  });

  test('a person who loses the right during a call gets no token for the model', async () => {
    const call = await issued();
    await routeTo(example as Example);
    world.rights.delete(`${userSubject({ issuer: peopleIssuer, subject: 'ann' })} invoke agent:${agentId}`);
    expect(await send({ ...call })).toBe(403);
    world.allow('ann', 'invoke');
    expect(upstream.seen).toEqual([]);
  });

  test('an SDK agent refuses a body that is not a message with 400', async () => {
    const headers = { ...(await issued()) };
    expect((await fetch(`${example?.url}/message:send`, { method: 'POST', headers, body: '{}' })).status).toBe(400);
  });

  test('an SDK agent answers 404 to an unknown path, and its health endpoint needs no token', async () => {
    const at = example?.url;
    expect((await fetch(`${at}/anything`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${at}/health/ready`)).status).toBe(200);
  });

  test('while an SDK agent cannot read the keys of the gateway it refuses every call as unavailable', async () => {
    const command = await prepare();
    if (!command.ok) return;
    const alone = await start(command.argv, 'http://127.0.0.1:1');
    onTestFinished(async () => void (await alone.child.end()));
    const call = await issued();
    expect(await send({ ...call }, alone.url)).toBe(503);
  });
});
