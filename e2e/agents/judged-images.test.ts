import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import { currentProfile } from '#contracts/profiles';
import { publishedSdkCard, readSdkCard } from '#contracts/sdk-card';
import { type FollowedChild, startFollowed } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { RoutedVersion, RouteGuardrail } from '#resources/agent-route';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  routedVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { root } from '../../hack/check/run-tool.ts';
import { deniedLines, deniedTerm, maskedTerm, replacement, sampleBundle } from '../support/sample-policy.ts';
import type { RunningProcess } from '../support/start-process.ts';
import { startTestRuntime } from '../support/start-test-runtime.ts';

const publicUrl = `https://agents.example/agents/${agentId}/versions/${firstVersion}`;
const none = { mode: 'None' } as const;
let world: AgentPlaneWorld;
let image: { readonly url: string; readonly child: FollowedChild };
let runtime: RunningProcess;
let startRuntime: () => Promise<RunningProcess>;
let cardDigest = '';

beforeAll(async () => {
  // Runs of streams that broke off are counted for a while.
  world = await startAgentPlane({ atOnce: 1_000, perMinute: 10_000 });
  world.allow('ann', 'invoke');
  const folder = temporaryFolder();
  const bundleFile = join(folder.path, 'policy.json');
  const tokenFile = join(folder.path, 'runtime.token');
  await writeFile(bundleFile, canonicalBytes(sampleBundle()));
  await writeFile(tokenFile, 'token\n');
  startRuntime = () => startTestRuntime(bundleFile, tokenFile);
  runtime = await startRuntime();
  image = await startImage(firstVersion);
  const read = readSdkCard(await (await fetch(`${image.url}/.well-known/agent-card.json`)).json());
  if (!read.ok) throw new Error(read.problem);
  cardDigest = digestOf(publishedSdkCard(read.card, publicUrl));
  // Times in tokens are whole seconds, and the image refuses tokens from before its start.
  await pause(1_000);
});
async function startImage(versionId: string): Promise<typeof image> {
  const settings = { PORTCULLIS_GATEWAY_URL: world.url, PORTCULLIS_GATEWAY_ISSUER: gatewayIssuer, MODEL: 'none' };
  const at = { AGENT_ID: agentId, VERSION_ID: versionId, HOST: '127.0.0.1', PORT: '0' };
  const child = startFollowed([process.execPath, join(root, 'e2e/agents/repeating-agent.ts')], {
    cwd: root,
    env: { ...process.env, ...settings, ...at },
  });
  const port = /port (\d+)/.exec(await child.listens('the image'))?.[1];
  return { url: `http://127.0.0.1:${port}`, child };
}

/** Serves a version with one run at a time, of which no earlier run is left. */
async function serveAlone(output: RouteGuardrail): Promise<string> {
  const versionId = randomUUID();
  const own = await startImage(versionId);
  onTestFinished(async () => void (await own.child.end()));
  await pause(1_000);
  await serve(none, output, { versionId, address: own.url, limits: { ...routedVersion(own).limits, concurrency: 1 } });
  return versionId;
}

afterAll(async () => {
  await image?.child.end();
  await runtime?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

function policy(streaming: 'Windows' | 'Whole' = 'Windows', at = runtime): RouteGuardrail {
  return {
    mode: 'Policy',
    policyId: 'sample',
    policyRevision: '1',
    digest: digestOf(sampleBundle()),
    contentProfile: currentProfile,
    streaming,
    addresses: [at.url],
    maxBodyBytes: defaultBundleLimits.maxBodyBytes,
    maxMessages: defaultBundleLimits.maxMessages,
    deadlineMs: { request: 1_000, response: 1_000 },
  };
}

function serve(input: RouteGuardrail, output: RouteGuardrail, change: Partial<RoutedVersion> = {}): Promise<void> {
  const limits = { ...routedVersion(image).limits, concurrency: 64 };
  const members = { guardrails: { input, output }, sdk: { publicUrl }, modes: ['A2A'] as 'A2A'[], cardDigest, limits };
  return world.serve({ versions: [routedVersion(image, { ...members, ...change })] });
}

async function post(operation: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const token = await world.personToken('ann');
  return await world.call(`/agents/${agentId}/${operation}`, { token, body: JSON.stringify(body), headers });
}

const message = (...parts: readonly object[]) => ({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts } });

async function say(...parts: readonly object[]) {
  const answer = await post('message:send', message(...parts));
  const text = await answer.text();
  return { status: answer.status, text, code: codeOf(text), headers: answer.headers };
}

/** The code of an error of A2A; undefined for any other text. */
function codeOf(text: string): unknown {
  const [, code] = /"metadata":\{"code":"([a-z_]+)"/.exec(text) ?? [];
  return code;
}

type Event = Readonly<Record<string, unknown>>;

/** The events of a stream of these pieces, and its text as the client puts it together. */
async function stream(pieces: readonly string[], pauseMs = 0, during?: () => Promise<void>) {
  const answer = await post('message:stream', message({ data: { pieces, pauseMs } }));
  await during?.();
  const text = await answer.text();
  const events = text.split('\n\n').flatMap((frame): Event[] => {
    const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
    return data === undefined ? [] : [JSON.parse(data) as Event];
  });
  const artifact = events.flatMap(({ artifactUpdate }) => {
    const { artifact: one } = (artifactUpdate ?? {}) as { artifact?: { parts: { text: string }[] } };
    return one?.parts.map((part) => part.text) ?? [];
  });
  return { status: answer.status, text, code: codeOf(text), events, artifact };
}

describe('the texts of an image over A2A', () => {
  test('the card of an image is published with only the address and the signature of the gateway', async () => {
    await serve(none, none);
    const path = `/agents/${agentId}/.well-known/agent-card.json`;
    world.allow('ann', 'view');
    const answer = await world.call(path, { method: 'GET', token: await world.personToken('ann') });
    const card = (await answer.json()) as { signatures: { signature: string }[]; supportedInterfaces: object[] };
    expect(card).toMatchObject({ name: 'Repeater', capabilities: { streaming: true, pushNotifications: false } });
    expect(card.supportedInterfaces).toEqual([
      { url: publicUrl, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]);
    expect(card.signatures).toHaveLength(1);
    expect(card.signatures[0]?.signature).not.toBe('foreign');
  });

  test('a denied input does not reach an image, and a masked input arrives masked, including data', async () => {
    await serve(policy(), none);
    const denied = await say({ text: `about ${deniedTerm}` });
    expect([denied.status, denied.code]).toEqual([403, 'guardrail_denied']);
    expect(denied.text).not.toContain(deniedTerm);
    for (const data of [{ [deniedTerm]: 1 }, { a: [deniedTerm] }]) expect((await say({ data })).status).toBe(403);
    expect((await say({ text: `about ${maskedTerm}` })).text).toContain(`about ${replacement}`);
    const inData = await say({ data: { answer: { message: { parts: [{ text: maskedTerm }] } } } });
    expect(inData.text).toContain(replacement);
  });

  test.each([
    ['directly', deniedTerm.slice(0, 6), deniedTerm.slice(6)],
    ['by a line break', ...(deniedLines.split('\n') as [string, string])],
  ])('a phrase in two parts of a message to or from an image that are joined %s is found', async (_, first, second) => {
    await serve(policy(), none);
    expect((await say({ text: first }, { data: {} }, { text: second })).code).toBe('guardrail_denied');
    await serve(none, policy());
    const parts = [{ text: first }, { text: second, mediaType: 'text/markdown' }];
    for (const answer of [{ message: { parts } }, { task: { id: randomUUID(), artifacts: [{ parts }] } }])
      expect((await say({ data: { answer } })).code).toBe('guardrail_denied');
  });

  test('if one of several parts is masked, all parts still reach the image as separate parts', async () => {
    await serve(none, policy());
    const parts = [{ text: 'one' }, { text: `about ${maskedTerm}` }, { text: 'three' }];
    const { text } = await say({ data: { answer: { message: { parts } } } });
    const shown = JSON.stringify([{ text: 'one' }, { text: `about ${replacement}` }, { text: 'three' }]);
    expect(text).toContain(shown.slice(1, -1));
    const cut = [{ text: maskedTerm.slice(0, 4) }, { text: maskedTerm.slice(4) }];
    for (const before of [[], [{ text: maskedTerm }]]) {
      const answer = { message: { parts: [...before, ...cut] } };
      expect((await say({ data: { answer } })).code).toBe('guardrail_denied');
    }
  });

  test('a denied answer of an image is refused, and a masked answer is sent masked, whatever member it is in', async () => {
    await serve(none, policy());
    const denied = await say({ text: `about ${deniedTerm}` });
    expect([denied.status, denied.code]).toEqual([403, 'guardrail_denied']);
    expect(denied.text).not.toContain(deniedTerm);
    const masked = await say({ text: `about ${maskedTerm}` });
    expect(masked.text).toContain(`about ${replacement}`);
    expect([masked.text.includes(maskedTerm), masked.headers.get('x-secret')]).toEqual([false, null]);
    const answers = [
      { message: { messageId: deniedTerm, role: 'ROLE_AGENT', parts: [] } },
      { message: { role: deniedTerm, parts: [] } },
      { [deniedTerm]: true },
      { task: { id: randomUUID(), artifacts: [{ parts: [{ data: { a: { [deniedTerm]: 1 } } }] }] } },
      { error: { code: 404, status: 'NOT_FOUND', message: deniedTerm } },
    ];
    for (const answer of answers) expect((await say({ data: { answer } })).code).toBe('guardrail_denied');
    for (const part of [{ raw: 'AAAA' }, { url: 'https://elsewhere.example' }]) {
      const opaque = { message: { role: 'ROLE_AGENT', parts: [part] } };
      expect((await say({ data: { answer: opaque } })).code).toBe('answer_refused');
    }
  });

  test('content of an image that cannot be judged and operations that bypass the gateway are refused', async () => {
    await serve(policy(), policy());
    const file = await say({ raw: 'AAAA', mediaType: 'text/plain' });
    expect([file.status, file.code]).toEqual([415, 'content_type_not_supported']);
    const push = { ...message({ text: 'hello' }), configuration: { taskPushNotificationConfig: { url: 'https://x' } } };
    expect(codeOf(await (await post('message:send', push)).text())).toBe('push_notification_not_supported');
    const other = await post(`tasks/${randomUUID()}/pushNotificationConfigs`, {});
    expect([other.status, await other.json()]).toMatchObject([
      400,
      {
        error: {
          details: [
            { reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED', domain: 'a2a-protocol.org' },
            { reason: 'UNSUPPORTED_OPERATION', domain: 'a2a-protocol.org' },
            { reason: 'push_notification_not_supported', domain: 'portcullis' },
          ],
        },
      },
    ]);
    const token = await world.personToken('ann');
    const card = await world.call(`/agents/${agentId}/extendedAgentCard`, { token, method: 'GET' });
    expect(codeOf(await card.text())).toBe('extended_card_not_configured');
  });

  const long = Array.from({ length: 200 }, (_, index) => `word number ${index} of a long text. `);

  test('a stream of an image is judged in windows, and its text arrives in parts and completely', async () => {
    await serve(none, policy('Windows'));
    const { artifact, events, code } = await stream(long);
    expect(code).toBeUndefined();
    expect(artifact.join('')).toBe(long.join(''));
    expect(artifact.length).toBeGreaterThan(2);
    expect(Object.keys(events.at(-1) ?? {})).toEqual(['statusUpdate']);
  });

  test('a stream of an image under a policy that cannot be judged in windows arrives as one artifact', async () => {
    await serve(none, policy('Whole'));
    const { artifact } = await stream(long);
    expect(artifact).toEqual([long.join('')]);
    const masked = await stream([...long, maskedTerm.slice(0, 5), maskedTerm.slice(5)]);
    expect(masked.artifact).toEqual([`${long.join('')}${replacement}`]);
  });

  test.each(['Windows', 'Whole'] as const)(
    'no part of a denied word is sent in a stream judged as %s, although it is split over two pieces',
    async (streaming) => {
      await serve(none, policy(streaming));
      const short = await stream([`about ${deniedTerm.slice(0, 6)}`, deniedTerm.slice(6)]);
      expect([short.artifact, short.code]).toEqual([[], 'guardrail_denied']);
      const late = await stream([...long, deniedTerm.slice(0, 6), deniedTerm.slice(6), ' and more']);
      expect(late.code).toBe('guardrail_denied');
      expect(late.artifact.join('')).not.toContain(deniedTerm.slice(0, 6));
      expect(long.join('').startsWith(late.artifact.join(''))).toBe(true);
    },
  );

  test('a short stream of an image that the policy masks arrives masked', async () => {
    await serve(none, policy('Windows'));
    expect((await stream([`about ${maskedTerm.slice(0, 4)}`, maskedTerm.slice(4)])).artifact).toEqual([
      `about ${replacement}`,
    ]);
  });

  test('an image has at most as many concurrent runs as its version allows, even while it streams', async () => {
    await serveAlone(policy('Windows'));
    const slow = stream(long.slice(0, 20), 50, async () => {
      const refused = await say({ text: 'hello' });
      expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([429, 'too_many_runs', '1']);
    });
    expect((await slow).code).toBeUndefined();
    expect((await say({ text: 'hello' })).status).toBe(200);
  });

  test.each([
    ['judged', 'Windows'],
    ['unguarded', undefined],
  ] as const)(
    'a run of a %s stream that its client left is counted, and its version in use, for a while',
    async (_title, mode) => {
      const output = mode === undefined ? none : policy(mode);
      const versionId = await serveAlone(output);
      const leave = new AbortController();
      const token = await world.personToken('ann');
      const left = await fetch(`${world.url}/agents/${agentId}/message:stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` },
        body: JSON.stringify(message({ data: { pieces: long, pauseMs: 50 } })),
        signal: leave.signal,
      });
      await left.body?.getReader().read();
      leave.abort();
      await pause(500);
      expect((await say({ text: 'hello' })).code).toBe('too_many_runs');
      await serve(none, output);
      expect(world.gateway.reports.at(-1)?.agents?.inUse).toContainEqual({ agentId, versionId });
    },
  );

  test('after the runtime was killed in the middle of a stream, no more text is sent and the error is typed', async () => {
    const own = await startRuntime();
    onTestFinished(() => own[Symbol.asyncDispose]());
    await serve(policy('Windows', own), policy('Windows', own));
    const killed = await stream(long, 100, async () => {
      await pause(500);
      await own[Symbol.asyncDispose]();
    });
    expect(killed.code).toBe('guardrail_error');
    expect(long.join('').startsWith(killed.artifact.join(''))).toBe(true);
    expect(killed.artifact.join('').length).toBeLessThan(long.join('').length);
    const refused = await say({ text: 'hello' });
    expect([refused.status, refused.code]).toEqual([503, 'guardrail_error']);
  });
});

describe('the texts of an image over MCP', () => {
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  const mcp = async (method: string, params: object, id: unknown = 1) => {
    const answer = await post('mcp', { jsonrpc: '2.0', id, method, params }, headers);
    const text = await answer.text();
    return { status: answer.status, text, json: JSON.parse(text) as Record<string, unknown> };
  };
  const call = (args: object, name = 'repeat') => mcp('tools/call', { name, arguments: args });
  const serveTool = (input: RouteGuardrail, output: RouteGuardrail) =>
    serve(input, output, { modes: ['MCP'], cardDigest: undefined, sdk: { publicUrl, tool: 'repeat' } });

  test('arguments and results of an MCP image are judged, and only the tool of the route is listed and called', async () => {
    await serveTool(policy(), none);
    expect((await call({ text: deniedTerm })).json['code']).toBe('guardrail_denied');
    expect((await call({ text: maskedTerm })).text).toContain(replacement);
    await serveTool(none, policy());
    expect((await call({ text: deniedTerm })).json['code']).toBe('guardrail_denied');
    expect((await call({ [deniedTerm]: 1 })).json['code']).toBe('guardrail_denied');
    const masked = await call({ text: maskedTerm });
    expect(masked.json).toMatchObject({
      result: { content: [{ type: 'text', text: replacement }], structuredContent: { text: replacement } },
    });
    const listed = (await mcp('tools/list', {})).json['result'] as { readonly tools: readonly { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toEqual(['repeat']);
    const data = { code: 'operation_not_supported' };
    const hidden = await call({}, 'hidden');
    expect([hidden.status, hidden.json]).toMatchObject([200, { jsonrpc: '2.0', id: 1, error: { code: -32602, data } }]);
    const other = await mcp('resources/read', { uri: 'x' }, 'two');
    expect([other.status, other.json]).toMatchObject([
      200,
      { jsonrpc: '2.0', id: 'two', error: { code: -32601, data } },
    ]);
  });
});
