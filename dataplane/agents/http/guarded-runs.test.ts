import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Script, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { deniedTerm, maskedTerm, replacement, sampleDefinition } from '../../../e2e/support/sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import {
  errorCodeOf,
  messageOf,
  policyName,
  type RunningAgent,
  startAgent,
  streamEventsOf,
} from '../testing/start-agent.ts';

const guardrail = { name: policyName, revision: 1 };
const requires = [{ kind: 'model', name: 'm' } as const];
let gateway: ScriptedUpstream;
let agent: RunningAgent;

beforeAll(async () => {
  gateway = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
  agent = await startAgent({
    bundle: agentBundle({
      flow: questionFlow('m'),
      bundle: {
        requires,
        guardrails: { input: guardrail, output: guardrail },
        limits: { requestBytes: 65_536, timeoutMs: 20_000, concurrency: 1 },
      },
    }),
    policy: sampleDefinition(),
    services: { modelGateway: new URL(gateway.url) },
    modelGatewayToken: 'client-key',
    unwatchedMs: 50,
  });
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.play({ kind: 'answer', content: 'fine' }));

const say = (text: string) => agent.call('POST', '/message:send', messageOf({ text }));

verifies(
  ['agents:order:entry-point'],
  'a run calls the model through the gateway with the key of the process and the trace of the call',
  async () => {
    const seen = gateway.seen.length;
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await agent.call('POST', '/message:send', messageOf({ text: 'hello' }), { traceparent });
    expect(answer.json).toMatchObject({ message: { parts: [{ text: 'fine' }, { data: { answer: 'fine' } }] } });
    const [call, ...more] = gateway.seen.slice(seen);
    expect([call?.path, call?.headers['authorization'], more.length]).toEqual([
      '/v1/chat/completions',
      'Bearer client-key',
      0,
    ]);
    expect(call?.headers['traceparent']).toContain('0af7651916cd43dd8448eb211c80319c');
    expect(JSON.parse(call?.text ?? '')).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
      max_completion_tokens: 100,
    });
  },
);

verifies(
  ['agents:order:input-guardrails'],
  'a denied input does not reach the flow, whichever part of the data contains it, and a masked input arrives masked',
  async () => {
    const seen = gateway.seen.length;
    const parts = [
      { text: `about ${deniedTerm}` },
      { data: { question: deniedTerm } },
      { data: { question: 'x', [deniedTerm]: 1 } },
    ];
    for (const part of parts) {
      const answer = await agent.call('POST', '/message:send', messageOf(part));
      expect([answer.status, errorCodeOf(answer)]).toEqual([403, 'guardrail_denied']);
      expect(answer.text).not.toContain(deniedTerm);
    }
    expect(gateway.seen.length).toBe(seen);
    await say(`about ${maskedTerm}`);
    expect(gateway.seen.at(-1)?.text).toContain(`about ${replacement}`);
    expect(gateway.seen.at(-1)?.text).not.toContain(maskedTerm);
  },
);

verifies(
  ['agents:order:output-guardrails', 'agents:error:no-partial-success'],
  'a denied result is not delivered, neither in a message nor in a task, and a masked one is delivered masked',
  async () => {
    gateway.play({ kind: 'answer', content: `see ${maskedTerm}` });
    const masked = await say('hello');
    expect(masked.json).toMatchObject({
      message: { parts: [{ text: `see ${replacement}` }, { data: { answer: `see ${replacement}` } }] },
    });
    gateway.play({ kind: 'answer', content: `see ${deniedTerm}` });
    const denied = await say('hello');
    expect([denied.status, errorCodeOf(denied)]).toEqual([403, 'guardrail_denied']);
    const streamed = await agent.call('POST', '/message:stream', messageOf({ text: 'hello' }));
    const events = streamEventsOf(streamed);
    expect(events.map((event) => Object.keys(event)[0])).toEqual(['task', 'statusUpdate', 'statusUpdate']);
    expect(events.at(-1)).toMatchObject({
      statusUpdate: {
        status: { state: 'TASK_STATE_FAILED', message: { parts: [{ data: { code: 'guardrail_denied' } }] } },
      },
    });
    const id = (events[0] as { task: { id: string } }).task.id;
    expect((await agent.call('GET', `/tasks/${id}`)).json).not.toHaveProperty('artifacts');
    expect(denied.text + streamed.text).not.toContain(deniedTerm);
  },
);

verifies(
  ['agents:order:output-schema'],
  'a result that does not match the output schema is answered as an error',
  async () => {
    const flow = questionFlow();
    const strict = { type: 'object', properties: { answer: { type: 'string', maxLength: 3 } }, required: ['answer'] };
    await using short = await startAgent({ bundle: agentBundle({ flow: { ...flow, output: { schema: strict } } }) });
    const accepted = await short.call('POST', '/message:send', messageOf({ text: 'abc' }));
    expect(accepted.status).toBe(200);
    const refused = await short.call('POST', '/message:send', messageOf({ text: 'abcd' }));
    expect([refused.status, errorCodeOf(refused)]).toEqual([502, 'output_invalid']);
    expect(refused.json).toMatchObject({ error: { details: [{ reason: 'INVALID_AGENT_RESPONSE' }, {}] } });
  },
);

test('errors of a model or of its gateway become typed errors without their original text', async () => {
  const status = (code: number, body = '{}') => ({ kind: 'status', status: code, body }) as const;
  const denied = status(403, '{"error":{"code":"policy_denied","message":"secret-of-a-gateway"}}');
  const cases = [
    [denied, 403, 'guardrail_denied'],
    [status(403, '{"error":{"code":"other"}}'), 403, 'forbidden'],
    [status(404), 500, 'flow_failed'],
    [status(429), 503, 'dependency_unavailable'],
    [status(503), 503, 'dependency_unavailable'],
    [{ kind: 'reset' }, 503, 'dependency_unavailable'],
    [{ kind: 'raw', body: 'secret', contentType: 'text/plain' }, 500, 'flow_failed'],
  ] as const;
  for (const [script, expected, code] of cases) {
    gateway.play(script);
    const answer = await say('hello');
    expect([script, answer.status, errorCodeOf(answer)]).toEqual([script, expected, code]);
    expect(answer.text).not.toContain('secret');
  }
});

test('a run whose process has lost its key for the model gateway ends as a typed error', async () => {
  const bundle = agentBundle({ flow: questionFlow('m'), bundle: { requires } });
  const services = { modelGateway: new URL(gateway.url) };
  await using keyless = await startAgent({ bundle, services, modelGatewayToken: 'client-key' });
  await writeFile(join(dirname(keyless.bundleFile), 'gateway.token'), '');
  const refused = await until('the process notices the file', async () => {
    const answer = await keyless.call('POST', '/message:send', messageOf({ text: 'hello' }));
    return answer.status === 200 ? undefined : answer;
  });
  expect([refused.status, errorCodeOf(refused)]).toEqual([503, 'dependency_unavailable']);
});

test('a run uses one of the slots of the version until its end, and the next call is refused with a retry time', async () => {
  gateway.play({ kind: 'silence' });
  const leave = new AbortController();
  const first = fetch(`${agent.url}/message:send`, {
    method: 'POST',
    headers: { 'a2a-version': '1.0', 'x-user-id': 'ann', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf({ text: 'hello' })),
    signal: leave.signal,
  });
  const seen = gateway.seen.length;
  await until('the model is asked', () => gateway.seen.length > seen);
  const second = await say('hello');
  expect([second.status, errorCodeOf(second), second.headers.get('retry-after')]).toEqual([429, 'too_many_runs', '1']);
  leave.abort();
  await expect(first).rejects.toThrow();
  gateway.play({ kind: 'answer', content: 'fine' });
  await until('the place is free', async () => (await say('hello')).status === 200);
});

test('a tool call ends when its client disconnects, and its slot is free for the next call', async () => {
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  const rpc = (method: string, params: object, id?: number) => ({
    jsonrpc: '2.0',
    method,
    params,
    ...(id === undefined ? {} : { id }),
  });
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const opened = await agent.call('POST', '/mcp', rpc('initialize', hello, 1), headers);
  const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  await agent.call('POST', '/mcp', rpc('notifications/initialized', {}), session);
  gateway.play({ kind: 'silence' });
  const seen = gateway.seen.length;
  const leave = new AbortController();
  const abandoned = fetch(`${agent.url}/mcp`, {
    method: 'POST',
    headers: { ...session, 'x-user-id': 'ann', 'content-type': 'application/json' },
    body: JSON.stringify(rpc('tools/call', { name: 'answer_question', arguments: { question: 'hello' } }, 2)),
    signal: leave.signal,
  });
  await until('the model is asked', () => gateway.seen.length > seen);
  expect(errorCodeOf(await say('hello'))).toBe('too_many_runs');
  leave.abort();
  await expect(abandoned).rejects.toThrow();
  gateway.play({ kind: 'answer', content: 'fine' });
  await until('the place is free', async () => (await say('hello')).status === 200);
});

test('comments are sent while a stream has no events, so that its connection stays open', async () => {
  gateway.play({ kind: 'silence' });
  const leave = new AbortController();
  const answer = await fetch(`${agent.url}/message:stream`, {
    method: 'POST',
    headers: { 'a2a-version': '1.0', 'x-user-id': 'ann', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf({ text: 'hello' })),
    signal: leave.signal,
  });
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.split('\n\n').filter((frame) => frame.startsWith(':')).length >= 2) break;
  }
  leave.abort();
  expect(streamEventsOf({ text }).map((event) => Object.keys(event)[0])).toEqual(['task', 'statusUpdate']);
  gateway.play({ kind: 'answer', content: 'fine' });
  await until('the place is free', async () => (await say('hello')).status === 200);
});

verifies(
  ['agents:task:subscribe'],
  'a second client gets the current task and every later event, and a task that no client reads is ended',
  async () => {
    let answers = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answers = resolve;
    });
    const script: Script = async (outgoing) => {
      await answered;
      const choices = [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }];
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }));
    };
    await using slow = await startScriptedHttp(script);
    await using held = await startAgent({
      bundle: agentBundle({ flow: questionFlow('m'), bundle: { requires } }),
      services: { modelGateway: new URL(slow.url) },
      unwatchedMs: 50,
    });
    const headers = { 'a2a-version': '1.0', 'x-user-id': 'ann', 'content-type': 'application/json' };
    const body = JSON.stringify(messageOf({ text: 'hello' }));
    const leave = new AbortController();
    const start = (signal: AbortSignal | null) =>
      fetch(`${held.url}/message:stream`, { method: 'POST', headers, body, signal });
    const first = await start(null);
    await until('the task works', async () => {
      const { tasks } = (await held.call('GET', '/tasks')).json as { tasks: { status: { state: string } }[] };
      return tasks[0]?.status.state === 'TASK_STATE_WORKING';
    });
    const { tasks } = (await held.call('GET', '/tasks')).json as { tasks: { id: string }[] };
    const second = held.call('POST', `/tasks/${tasks[0]?.id}:subscribe`);
    await until('the model is asked', () => slow.seen.length === 1);
    const abandoned = await start(leave.signal);
    leave.abort();
    await abandoned.text().catch(() => undefined);
    await until('the abandoned task has ended', async () => {
      const list = (await held.call('GET', '/tasks?status=TASK_STATE_CANCELED')).json as { totalSize: number };
      return list.totalSize === 1;
    });
    answers();
    const whole = streamEventsOf({ text: await first.text() });
    const seen = streamEventsOf(await second);
    expect(seen[0]).toMatchObject({ task: { id: tasks[0]?.id } });
    expect(seen.slice(-2)).toEqual(whole.slice(-2));
    expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  },
);

test('a process that shuts down answers the call that it has accepted, and is no longer ready', async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await using slow = await startScriptedHttp(async (outgoing) => {
    await answered;
    const choices = [{ message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }];
    outgoing.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }));
  });
  const ending = await startAgent({
    bundle: agentBundle({ flow: questionFlow('m'), bundle: { requires } }),
    services: { modelGateway: new URL(slow.url) },
  });
  const call = ending.call('POST', '/message:send', messageOf({ text: 'hello' }));
  await until('the model is asked', () => slow.seen.length === 1);
  const ended = ending[Symbol.asyncDispose]();
  const probe = await fetch(`${ending.adminUrl}/readyz`);
  expect([probe.status, await probe.text()]).toMatchObject([503, expect.stringContaining('shutting_down')]);
  expect(await (await fetch(`${ending.adminUrl}/state`)).json()).toMatchObject({ ready: false, runs: 1 });
  answer();
  expect((await call).status).toBe(200);
  await ended;
});
