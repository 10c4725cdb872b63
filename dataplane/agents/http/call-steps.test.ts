import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentErrors } from '#contracts/agent-errors';
import { until } from '#kit/testing/until';
import { deniedLines, deniedTerm, sampleDefinition } from '../../../e2e/support/sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { callSteps } from '../calls/call-steps.ts';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import { type BuiltAgent, openBuiltAgent } from '../testing/built-agent.ts';
import { errorCodeOf, policyName, type RunningAgent, startAgent } from '../testing/start-agent.ts';

const guardrail = { name: policyName, revision: 1 };
const lines: string[] = [];
let gateway: ScriptedUpstream;
let agent: RunningAgent;

beforeAll(async () => {
  gateway = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
  const flow = questionFlow('m') as { readonly nodes: readonly { readonly id: string }[] };
  const answer = `\${${'nodes.ask.output.text'}}`;
  const isShort = { matches: [`\${${'input.question'}}`, '^short$'] };
  // This version returns text in one case only, so that a client that accepts only text gets no part of the other
  // result.
  const nodes = [
    ...flow.nodes.map((node) => (node.id === 'end' ? { ...node, inputs: { data: { answer } } } : node)),
    { id: 'pick', kind: 'condition', config: { cases: [{ name: 'short', when: isShort }], default: 'whole' } },
    { id: 'note', kind: 'output', inputs: { text: 'Short.' } },
  ];
  const edges = [
    { from: 'start', to: 'pick' },
    { from: 'pick', to: 'note', when: 'short' },
    { from: 'pick', to: 'ask', when: 'whole' },
    { from: 'ask', to: 'end' },
  ];
  agent = await startAgent({
    bundle: agentBundle({
      flow: { ...flow, output: { schema: { type: 'object' } }, nodes, edges },
      bundle: {
        requires: [{ kind: 'model', name: 'm' }],
        guardrails: { input: guardrail, output: guardrail },
        limits: { requestBytes: 65_536, timeoutMs: 20_000, concurrency: 4 },
      },
    }),
    policy: sampleDefinition(),
    services: { modelGateway: new URL(gateway.url) },
    log: (line) => void lines.push(line),
  });
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

const reference = { apiVersion: 'platform.file-ref/v1', fileId: 'f', capability: 'c' };
/** The defect of a call, by the step that must refuse it, and the code of the refusal. */
const defects = {
  protocol: { headers: { 'a2a-version': '0.3' }, code: 'version_not_supported' },
  identity: { headers: { 'x-user-id': '' }, code: 'unauthenticated' },
  files: { data: { file: reference }, code: 'file_refused' },
  input_guardrails: { data: { question: deniedTerm }, code: 'guardrail_denied' },
  conversion: { data: { other: 1 }, code: 'input_invalid' },
  entry_point: { model: { kind: 'status', status: 503, body: '{}' }, code: 'dependency_unavailable' },
  output: { model: { kind: 'answer', content: deniedTerm }, code: 'guardrail_denied' },
  result: { modes: ['text/plain'], code: 'output_invalid' },
} as const;
type Defect = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: object;
  readonly model?: Parameters<ScriptedUpstream['play']>[0];
  readonly modes?: readonly string[];
};

/**
 * Sends a call with these defects. @returns the code of the refusal, the step in the log, and the number of calls of
 * the model
 */
async function sendWith(wrong: readonly Defect[]) {
  const all = <Name extends keyof Defect>(name: Name) => wrong.map((defect) => defect[name]).filter((one) => one);
  gateway.play(all('model')[0] ?? { kind: 'answer', content: 'fine' });
  const asked = gateway.seen.length;
  lines.length = 0;
  const data = Object.assign({ question: 'hello' }, ...all('data').reverse());
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }] };
  const configuration = { acceptedOutputModes: all('modes')[0] ?? ['application/json'] };
  const headers = Object.assign({}, ...all('headers'));
  const answer = await agent.call('POST', '/message:send', { message, configuration }, headers);
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const { step, code } = logged.find(({ event, msg }) => [event, msg].includes('request_ended')) ?? {};
  return { status: answer.status, code: errorCodeOf(answer), step, logged: code, calls: gateway.seen.length - asked };
}

verifies(
  ['agents:order:fixed'],
  'a call with a fault in each step is refused at the first step, and no later step runs',
  async () => {
    const steps = callSteps.map(({ name }) => name).filter((name) => name !== 'refusal');
    expect(steps).toEqual(Object.keys(defects));
    for (const [at, step] of steps.entries()) {
      const wrong = steps.slice(at).map((name): Defect => defects[name]);
      const { code } = defects[step];
      const calls = at < steps.indexOf('entry_point') ? 0 : 1;
      expect(await sendWith(wrong)).toMatchObject({ step, code, logged: code, calls });
    }
    expect(await sendWith([])).toMatchObject({ status: 200, step: undefined, logged: 'none', calls: 1 });
  },
);

/** Sends one request of A2A or MCP as the user `ann`. */
const sendTo = async (url: string, path: string, body?: object, more: Record<string, string> = {}) => {
  const headers = {
    ...{ 'x-user-id': 'ann', 'a2a-version': '1.0', accept: 'application/json, text/event-stream' },
    ...{ 'content-type': 'application/json', ...more },
  };
  const method = body === undefined ? 'DELETE' : 'POST';
  return await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
};

/** The step and the code with which a request ended in the log; the list of the steps has this code. */
async function endOf(built: BuiltAgent, work: () => Promise<Response>): Promise<string> {
  const before = built.refusals.length;
  await (await work()).text();
  const end = await until('the request has ended', () => built.refusals[before]);
  const [step, code] = end.split(': ');
  const listed: readonly string[] = callSteps.find(({ name }) => name === step)?.refusals ?? [];
  expect(listed).toContain(code);
  return end;
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

test('calls that are refused for a task, a session or the number of runs are refused in the third step', async () => {
  await using built = await openBuiltAgent();
  const ends = (work: () => Promise<Response>): Promise<string> => endOf(built, work);
  for (const path of ['/message:send', '/message:stream']) {
    const unknown = { message: { ...message, taskId: 'unknown' } };
    expect(await ends(() => sendTo(built.url, path, unknown))).toBe('files: task_not_found');
  }
  const streamed = await (await sendTo(built.url, '/message:stream', { message })).text();
  const { task } = JSON.parse(/^data: (.*)$/m.exec(streamed)?.[1] ?? '{}') as { task: { id: string } };
  const again = { message: { ...message, taskId: task.id } };
  expect(await ends(() => sendTo(built.url, '/message:send', again))).toBe('files: UnsupportedOperationError');
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const session = { 'mcp-session-id': 'unknown' };
  expect(await ends(() => sendTo(built.url, '/mcp', ping, session))).toBe('files: session_not_found');
  expect(await ends(() => sendTo(built.url, '/mcp', undefined, session))).toBe('files: session_not_found');
  expect(await ends(() => sendTo(built.url, '/mcp', ping))).toBe('files: invalid_request');
  expect(await ends(() => sendTo(built.url, '/mcp', []))).toBe('files: invalid_request');
  built.upstream.play({ kind: 'silence' });
  const clients = Array.from({ length: 4 }, () => new AbortController());
  for (const { signal } of clients) {
    const headers = { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify({ message }), signal };
    fetch(`${built.url}/message:send`, asked).catch(() => undefined);
  }
  await until('every place is taken', () => built.upstream.seen.length === 5);
  for (const path of ['/message:send', '/message:stream']) {
    expect(await ends(() => sendTo(built.url, path, { message }))).toBe('files: too_many_runs');
  }
  for (const client of clients) client.abort();
});

test('a refused read of tasks or runs, and an operation that is not offered, is refused in the third step', async () => {
  await using built = await openBuiltAgent();
  const streamed = await (await sendTo(built.url, '/message:stream', { message })).text();
  const { task } = JSON.parse(/^data: (.*)$/m.exec(streamed)?.[1] ?? '{}') as { task: { id: string } };
  const id = '01890a5d-ac96-774b-bcce-b302099a8061';
  for (const [method, path, code] of [
    ['GET', `/tasks/${id}`, 'task_not_found'],
    ['GET', '/tasks?pageSize=0', 'invalid_request'],
    ['GET', '/tasks?pageToken=x', 'invalid_request'],
    ['POST', `/tasks/${id}:cancel`, 'task_not_found'],
    ['POST', `/tasks/${task.id}:cancel`, 'UnsupportedOperationError'],
    ['POST', `/tasks/${id}:subscribe`, 'task_not_found'],
    ['GET', `/tasks/${task.id}:subscribe`, 'UnsupportedOperationError'],
    ['GET', `/tasks/${task.id}/pushNotificationConfigs`, 'push_notification_not_supported'],
    ['GET', '/extendedAgentCard', 'extended_card_not_configured'],
    ['GET', `/runs/own/${id}`, 'run_not_found'],
  ] as const) {
    const headers = { 'x-user-id': 'ann', 'a2a-version': '1.0' };
    expect(await endOf(built, () => fetch(`${built.url}${path}`, { method, headers }))).toBe(`files: ${code}`);
  }
});

test('a refusal inside a result of the tool, and an error of JSON-RPC, name their step like every other refusal', async () => {
  await using built = await openBuiltAgent();
  const opened = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const call = (method: string, params: object, session?: string) =>
    sendTo(
      built.url,
      '/mcp',
      { jsonrpc: '2.0', id: 1, method, params },
      session === undefined ? {} : { 'mcp-session-id': session },
    );
  expect(await endOf(built, () => call('initialize', {}))).toBe('files: invalid_request');
  const session = (await call('initialize', opened)).headers.get('mcp-session-id') ?? '';
  const ends = (method: string, params: object): Promise<string> => endOf(built, () => call(method, params, session));
  expect(await ends('tools/list', {})).toBe('files: invalid_request');
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  await sendTo(built.url, '/mcp', initialized, { 'mcp-session-id': session });
  const { result } = (await (await call('tools/list', {}, session)).json()) as {
    result: { tools: [{ name: string }] };
  };
  const [{ name }] = result.tools;
  const tool = (args: object): Promise<string> => ends('tools/call', { name, arguments: args });
  expect(await ends('tools/call', { name: 'other' })).toBe('files: invalid_request');
  expect(await ends('resources/list', {})).toBe('files: invalid_request');
  expect(await tool({ question: 'hello', file: reference })).toBe('files: file_refused');
  expect(await tool({ other: 1 })).toBe('conversion: input_invalid');
  built.upstream.play({ kind: 'status', status: 503, body: '{}' });
  expect(await tool({ question: 'hello' })).toBe('entry_point: dependency_unavailable');
  built.upstream.play({ kind: 'answer', content: 'fine' });
  const before = built.refusals.length;
  await (await call('tools/call', { name, arguments: { question: 'hello' } }, session)).text();
  expect(await until('the call has ended', () => built.refusals[before])).toBe('none');
});

test('a denied phrase that begins in one text part of a message and ends in the next is found', async () => {
  const [first, second] = deniedLines.split('\n');
  const send = async (...texts: readonly string[]) => {
    const asked = gateway.seen.length;
    gateway.play({ kind: 'answer', content: 'fine' });
    const message = { messageId: 'm', role: 'ROLE_USER', parts: texts.map((text) => ({ text })) };
    const configuration = { acceptedOutputModes: ['application/json'] };
    const answer = await agent.call('POST', '/message:send', { message, configuration });
    return { code: errorCodeOf(answer), calls: gateway.seen.length - asked };
  };
  expect(await send(`${first}`, `${second}`)).toEqual({ code: 'guardrail_denied', calls: 0 });
  // Two of these texts are larger than one check; each of them alone is smaller.
  const long = 'word '.repeat(5_000);
  expect(await send(`${long}${first}`, `${second} ${long}`)).toEqual({ code: 'guardrail_denied', calls: 0 });
  // The texts pass the policy; an expression of this flow reads no text of this size.
  expect((await send(long, `and ${long}`)).code).toBe('flow_failed');
});

test('each refusal of a step is a documented error of agents, and the page about agents lists the same steps', async () => {
  const known = Object.keys(agentErrors);
  expect(callSteps.flatMap(({ refusals }) => refusals).filter((code) => !known.includes(code))).toEqual([]);
  const page = await readFile(new URL('../../../docs/design/agents.md', import.meta.url), 'utf8');
  const rows = callSteps.map(({ name, does, refusals }, at) => {
    const codes = refusals.map((code) => `\`${code}\``).join(', ');
    return `| ${at + 1} | \`${name}\` | ${does} | ${codes} |`;
  });
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  expect(rows).toHaveLength(9);
});
