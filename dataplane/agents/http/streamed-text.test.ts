import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { deniedTerm, maskedTerm, replacement, sampleDefinition } from '../../../e2e/support/sample-policy.ts';
import {
  completionBody,
  contentFrame,
  type ScriptedUpstream,
  scriptedDoneFrame,
  startScriptedUpstream,
} from '../../../e2e/support/scripted-upstream.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, textFlow } from '../testing/agent-bundle.ts';
import { messageOf, policyName, type RunningAgent, startAgent, streamEventsOf } from '../testing/start-agent.ts';

const requires = [{ kind: 'model', name: 'm' } as const];
const output = { name: policyName, revision: 1 };
const bundleOf = (guard: typeof output | 'None', flow = textFlow('m')) =>
  agentBundle({ flow, bundle: { requires, guardrails: { input: 'None', output: guard } } });

let model: ScriptedUpstream;
let agent: RunningAgent;
let unguarded: RunningAgent;

beforeAll(async () => {
  model = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
  const services = { modelGateway: new URL(model.url) };
  agent = await startAgent({ bundle: bundleOf(output), policy: sampleDefinition(), services });
  unguarded = await startAgent({ bundle: bundleOf('None'), services });
});
afterAll(async () => {
  await unguarded[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

type Update = {
  readonly artifact: { readonly artifactId: string; readonly parts: readonly { readonly text: string }[] };
  readonly append: boolean;
  readonly lastChunk: boolean;
};

/** The parts of the result as streamed, its final state, and the task as a later read returns it. */
async function stream(from: RunningAgent, headers: Record<string, string> = {}) {
  const answer = await from.call('POST', '/message:stream', messageOf({ text: 'hello' }), headers);
  const events = streamEventsOf(answer);
  const updates = events.flatMap((event) => ('artifactUpdate' in event ? [event['artifactUpdate'] as Update] : []));
  const last = events.at(-1) as { statusUpdate: { status: { state: string; message?: unknown } } };
  const { id } = (events[0] as { task: { id: string } }).task;
  return {
    texts: updates.map(({ artifact }) => artifact.parts.map(({ text }) => text).join('')),
    flags: updates.map(({ append, lastChunk }) => ({ append, lastChunk })),
    ids: new Set(updates.map(({ artifact }) => artifact.artifactId)).size,
    status: last.statusUpdate.status,
    task: (await from.call('GET', `/tasks/${id}`)).json,
    text: answer.text,
  };
}

/** Words of text with `middle` after `before` bytes, and more text after it. */
const around = (before: number, middle = '') => `${'plain words '.repeat(before).slice(0, before)}${middle} and so on`;

verifies(
  ['agents:order:output-guardrails', 'agents:message-stream:first-task'],
  'a long text arrives in parts of one artifact, each after its windows have passed, and the task has the complete text',
  async () => {
    const content = `${around(5_000)} Ünï🙂`;
    model.play({ kind: 'answer', content, frameLength: 7 });
    const { texts, flags, ids, status, task } = await stream(agent);
    expect(texts.join('')).toBe(content);
    expect(texts.length).toBeGreaterThanOrEqual(4);
    expect(flags).toEqual(flags.map((_, at) => ({ append: at > 0, lastChunk: at === flags.length - 1 })));
    expect([ids, status.state]).toEqual([1, 'TASK_STATE_COMPLETED']);
    expect(task).toMatchObject({ artifacts: [{ parts: [{ text: content, mediaType: 'text/plain' }] }] });
  },
);

test('the first part of a text is sent to the client before the model has finished', async () => {
  let isEnding = false;
  model.play({ kind: 'live', piece: () => around(200), everyMs: 1, ends: () => isEnding });
  const answer = await fetch(`${agent.url}/message:stream`, {
    method: 'POST',
    headers: { 'a2a-version': '1.0', 'x-user-id': 'ann', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf({ text: 'hello' })),
  });
  let text = '';
  for await (const bytes of answer.body ?? []) {
    text += Buffer.from(bytes).toString();
    // The test model completes its answer only after the client has received a part of it.
    if (text.includes('artifactUpdate')) isEnding = true;
  }
  expect(text).toContain('TASK_STATE_COMPLETED');
});

verifies(
  ['agents:error:no-partial-success'],
  'a denied phrase ends a stream wherever it occurs, no part of it is sent, and the task keeps no text',
  async () => {
    for (const before of [10, 1_010, 1_023, 1_024, 2_000, 4_090]) {
      model.play({ kind: 'answer', content: around(before, deniedTerm), frameLength: 5 });
      const { texts, status, task, text } = await stream(agent);
      expect([before, status]).toMatchObject([
        before,
        { state: 'TASK_STATE_FAILED', message: { parts: [{ data: { code: 'guardrail_denied' } }] } },
      ]);
      expect(around(before, deniedTerm).slice(0, before)).toContain(texts.join(''));
      expect(text).not.toContain(deniedTerm.slice(0, 6));
      expect(task).not.toHaveProperty('artifacts');
    }
  },
);

test('a masked phrase is masked while nothing has been sent, and ends the stream afterwards', async () => {
  for (const before of [10, 900]) {
    model.play({ kind: 'answer', content: around(before, maskedTerm) + around(3_000), frameLength: 9 });
    const { texts, status } = await stream(agent);
    expect([texts, status.state]).toEqual([[around(before, replacement) + around(3_000)], 'TASK_STATE_COMPLETED']);
  }
  model.play({ kind: 'answer', content: around(3_000, maskedTerm), frameLength: 9 });
  const { texts, status, text } = await stream(agent);
  expect(texts.length).toBeGreaterThanOrEqual(1);
  expect(status).toMatchObject({ message: { parts: [{ data: { code: 'guardrail_denied' } }] } });
  expect(text).not.toContain(maskedTerm.slice(0, 9));
});

test('a version without an output policy sends each piece of text when the next one has arrived', async () => {
  model.play({ kind: 'answer', content: 'one two 🙂 six', frameLength: 4 });
  const { texts, flags } = await stream(unguarded);
  expect(texts).toEqual(['one ', 'two ', '🙂 si', 'x']);
  expect(flags.at(-1)).toEqual({ append: true, lastChunk: true });
});

test('a model that refuses streams or breaks one is answered with the complete text or with a typed error', async () => {
  const refusal = JSON.stringify({ error: { code: 'unsupported_for_policy', param: 'stream' } });
  model.play(({ text }) =>
    text.includes('"stream":true')
      ? { kind: 'status', status: 400, body: refusal }
      : { kind: 'answer', content: 'whole' },
  );
  expect((await stream(agent)).texts).toEqual(['whole']);
  const frame = contentFrame(around(3_000));
  const denied = `data: ${JSON.stringify({ error: { code: 'policy_denied', message: 'secret-text' } })}\n\n`;
  for (const [frames, code] of [
    [[frame, denied], 'guardrail_denied'],
    [[frame], 'dependency_unavailable'],
    [['data: {"choices": 1}\n\n'], 'flow_failed'],
  ] as const) {
    model.play({ kind: 'frames', frames, end: 'end' });
    const { status, task, text } = await stream(agent);
    expect(status).toMatchObject({ state: 'TASK_STATE_FAILED', message: { parts: [{ data: { code } }] } });
    expect(task).not.toHaveProperty('artifacts');
    expect(text).not.toContain('secret-text');
  }
});

test('tokens that a model reports are counted, whether its answer is complete or streamed', async () => {
  const usage = { prompt_tokens: 12, completion_tokens: 5 };
  const tokens = async () => {
    const metrics = await (await fetch(`${unguarded.adminUrl}/metrics`)).text();
    return ['input', 'output'].map((direction) =>
      Number(
        new RegExp(`^portcullis_agent_model_tokens_total\\{direction="${direction}".*\\} (\\d+)$`, 'm').exec(
          metrics,
        )?.[1] ?? 0,
      ),
    );
  };
  const [input = 0, output = 0] = await tokens();
  const end = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  model.play({ kind: 'frames', frames: [contentFrame('fine', 'stop'), end, scriptedDoneFrame], end: 'end' });
  expect((await stream(unguarded)).texts).toEqual(['fine']);
  expect(await tokens()).toEqual([input + 12, output + 5]);
  const whole = JSON.stringify({ ...JSON.parse(completionBody('whole')), usage });
  model.play({ kind: 'raw', body: whole, contentType: 'application/json' });
  expect((await unguarded.call('POST', '/message:send', messageOf({ text: 'hello' }))).status).toBe(200);
  expect(await tokens()).toEqual([input + 24, output + 10]);
  model.play({ kind: 'answer', content: 'without usage' });
  await stream(unguarded);
  expect(await tokens()).toEqual([input + 24, output + 10]);
});

test('the text of a prompt with a second attempt arrives complete after the first attempt failed', async () => {
  const { nodes, ...rest } = textFlow('m') as { readonly nodes: readonly Readonly<Record<string, unknown>>[] };
  const retry = { maxAttempts: 2, backoffMs: 1, on: ['unavailable'] };
  const flow = { ...rest, nodes: nodes.map((node) => (node['kind'] === 'prompt' ? { ...node, retry } : node)) };
  await using retrying = await startAgent({
    bundle: bundleOf('None', flow),
    services: { modelGateway: new URL(model.url) },
  });
  let asked = 0;
  model.play(({ text }) => {
    asked += 1;
    if (asked === 1 && !text.includes('"stream":true')) return { kind: 'status', status: 503, body: '{}' };
    if (asked > 1) return { kind: 'answer', content: around(3_000), frameLength: 9 };
    return { kind: 'frames', frames: [contentFrame(around(2_000)), contentFrame('more')], end: 'end' };
  });
  const { texts, status } = await stream(retrying);
  expect([texts, status.state]).toEqual([[around(3_000)], 'TASK_STATE_COMPLETED']);
});

test('the model is called with a stream only if its text can be sent in parts', async () => {
  model.play({ kind: 'answer', content: 'fine' });
  const wasStreamed = () => JSON.parse(model.seen.at(-1)?.text ?? '')['stream'] === true;
  await stream(agent);
  expect(wasStreamed()).toBe(true);
  const sent = await agent.call('POST', '/message:send', messageOf({ text: 'hello' }));
  expect([sent.status, wasStreamed()]).toEqual([200, false]);
  const services = { modelGateway: new URL(model.url) };
  const limited = textFlow('m', { type: 'string', maxLength: 5_000 });
  await using strict = await startAgent({ bundle: bundleOf('None', limited), services });
  model.play({ kind: 'answer', content: around(4_000), frameLength: 9 });
  const { texts } = await stream(strict);
  expect([texts.length, wasStreamed()]).toEqual([1, false]);
});

verifies(
  ['agents:card:unimplemented-readiness'],
  'a version that streams text is not ready with a policy that needs the whole text',
  async () => {
    const services = { modelGateway: new URL(model.url) };
    const start = (flow: ReturnType<typeof textFlow>) =>
      startAgent({
        bundle: bundleOf(output, flow),
        policy: sampleDefinition(),
        services,
        windows: { allowed: false, rule: 'long' },
      });
    await using streams = await start(textFlow('m'));
    const state = await (await fetch(`${streams.adminUrl}/state`)).json();
    expect(state).toMatchObject({
      ready: false,
      problems: [{ code: 'advertised_capability_unavailable', capability: 'a2a.streaming' }],
    });
    await using whole = await start(textFlow('m', { type: 'string', maxLength: 5_000 }));
    await until('the version is ready', async () => (await whole.call('GET', '/health/ready')).status === 200);
  },
);
