import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { checkBytes } from '#checks/batch-messages';
import { windowsOf } from '#checks/cut-windows';
import { regexEngine } from '#contracts/local-rules';
import type { ServedTarget } from '#contracts/served-target';
import { deniedTerm, maskedTerm, replacement, sampleDefinition } from '../../../e2e/support/sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import { fileAgentBundle } from '../testing/file-agent.ts';
import { openFolderWorld } from '../testing/file-world.ts';
import { errorCodeOf, messageOf, policyName, type RunningAgent, startAgent } from '../testing/start-agent.ts';

const guardrail = { name: policyName, revision: 1 };
const model = { kind: 'model', name: 'm' } as const;
const limits = { requestBytes: 1_048_576, timeoutMs: 60_000, concurrency: 2 };
const whole: Partial<ServedTarget> = {
  division: { allowed: false, rule: 'the rule anchored' },
  streaming: { allowed: false, rule: 'the rule anchored' },
};
const maxBodyBytes = 32_768;
/** A text that is larger than one check, with white space. */
const long = 'word '.repeat(8_000);
/** A text with as many bytes as one check can have. */
const fitting = 'w'.repeat(maxBodyBytes - checkBytes({ role: 'user', content: '' }));
const fittingAnswer = 'w'.repeat(maxBodyBytes - checkBytes({ role: 'assistant', content: '' }, 'response'));

let gateway: ScriptedUpstream;
beforeAll(async () => {
  gateway = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.play({ kind: 'answer', content: 'fine' }));

/** A version with a model, judged in both directions by a policy with these members of its target. */
async function start(target: Partial<ServedTarget> = {}, policy = sampleDefinition()): Promise<RunningAgent> {
  const agent = await startAgent({
    bundle: agentBundle({
      flow: questionFlow('m'),
      bundle: { requires: [model], guardrails: { input: guardrail, output: guardrail }, limits },
    }),
    policy,
    target,
    services: { modelGateway: new URL(gateway.url) },
  });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  return agent;
}

/**
 * Sends these parts. @returns the answer, its code, its hint to repeat the call, and the text that the model received
 */
async function send(agent: RunningAgent, ...parts: readonly object[]) {
  const asked = gateway.seen.length;
  const answer = await agent.call('POST', '/message:send', messageOf(...parts));
  const sent = gateway.seen.slice(asked).map(({ text }) => text);
  return {
    status: answer.status,
    code: errorCodeOf(answer),
    retry: answer.headers.get('retry-after'),
    text: answer.text,
    sent,
  };
}

describe('a text that is larger than one check', () => {
  test('a text larger than one check in a message or in data reaches the flow, masked where the policy masks it, and can be denied like a shorter one', async () => {
    const agent = await start();
    for (const partOf of [(text: string) => ({ text }), (question: string) => ({ data: { question } })]) {
      const passed = await send(agent, partOf(`${long}end`));
      expect([passed.status, passed.sent.length, passed.sent[0]?.includes(`${long}end`)]).toEqual([200, 1, true]);
      const masked = await send(agent, partOf(`${maskedTerm} ${long}${maskedTerm} end`));
      expect(masked.status).toBe(200);
      expect(masked.sent[0]?.includes(`${replacement} ${long}${replacement} end`)).toBe(true);
      const denied = await send(agent, partOf(`${long}${deniedTerm}`));
      expect([denied.status, denied.code, denied.sent]).toEqual([403, 'guardrail_denied', []]);
    }
  });

  test('a text larger than one check in a result that is not streamed is judged in windows, where a mask denies', async () => {
    const agent = await start();
    gateway.play({ kind: 'answer', content: `${long}end` });
    const passed = await send(agent, { text: 'hello' });
    expect([passed.status, passed.text.includes(`${long}end`)]).toEqual([200, true]);
    for (const term of [deniedTerm, maskedTerm]) {
      gateway.play({ kind: 'answer', content: `${long}${term} ${long}` });
      const denied = await send(agent, { text: 'hello' });
      expect([denied.status, denied.code, denied.text.includes(term)]).toEqual([403, 'guardrail_denied', false]);
    }
    // One check may have at most 256 masks.
    gateway.play({ kind: 'answer', content: `${maskedTerm} `.repeat(2_500) });
    expect(await send(agent, { text: 'hello' })).toMatchObject({ status: 403, code: 'guardrail_denied' });
  });

  test('a text larger than one check is permanently refused where the policy needs the whole text, and a text that fills one check passes', async () => {
    const agent = await start(whole);
    expect(await send(agent, { text: fitting })).toMatchObject({ status: 200 });
    for (const text of [`${fitting}w`, long]) {
      const refused = { status: 413, code: 'request_too_large', retry: null, sent: [] };
      expect(await send(agent, { text })).toMatchObject(refused);
    }
    gateway.play({ kind: 'answer', content: fittingAnswer });
    expect(await send(agent, { text: 'hello' })).toMatchObject({ status: 200 });
    gateway.play({ kind: 'answer', content: `${fittingAnswer}w` });
    expect(await send(agent, { text: 'hello' })).toMatchObject({ status: 502, code: 'output_invalid', retry: null });
  });

  test('the texts of a message count together as a large text: a phrase over two parts is found, and two parts are refused as one', async () => {
    const definition = sampleDefinition();
    const regex = { engine: regexEngine, pattern: 'alpha(?:\\sx){0,400}\\somega', caseSensitive: true } as const;
    const rule = { id: 'phrase', kind: 'regex', timeoutMs: 100, action: { type: 'deny' }, regex } as const;
    const { request } = definition;
    const policy = { ...definition, request: { ...request, baseline: [...request.baseline, rule] } };
    const half = 'word '.repeat(5_000);
    const [begin, end] = [`${half}alpha${' x'.repeat(150)}`, `${'x '.repeat(150)}omega ${half}`];
    const agent = await start({}, policy);
    for (const texts of [[`${begin}\n${end}`], [begin, end]]) {
      const denied = await send(agent, ...texts.map((text) => ({ text })));
      expect([denied.status, denied.code, denied.sent]).toEqual([403, 'guardrail_denied', []]);
    }
    const passed = await send(agent, { text: begin }, { text: half });
    expect([passed.status, passed.sent[0]?.includes(JSON.stringify(`${begin}\n${half}`).slice(1, -1))]).toEqual([
      200,
      true,
    ]);

    const strict = await start(whole);
    const refused = { status: 413, code: 'request_too_large', retry: null, sent: [] };
    const [one, other] = [fitting.slice(0, 20_000), fitting.slice(20_000 + '\\n'.length)];
    expect(await send(strict, { text: one }, { text: other })).toMatchObject({ status: 200 });
    expect(await send(strict, { text: one }, { text: `${other}w` })).toMatchObject(refused);
  });

  test('a large text is permanently refused if it has no place to divide it, or more masks than its smallest part may have', async () => {
    const agent = await start();
    const refused = { status: 413, code: 'request_too_large', retry: null, sent: [] };
    expect(await send(agent, { text: `${fitting}w` })).toMatchObject(refused);
    expect(await send(agent, { text: `${maskedTerm} `.repeat(120) })).toMatchObject({ status: 200 });
    expect(await send(agent, { text: maskedTerm.repeat(2_000) })).toMatchObject(refused);
  });
});

describe('a guardrail node with a text that is larger than one check', () => {
  const node = {
    id: 'judge',
    kind: 'guardrail',
    inputs: { text: '' },
    config: { policy: policyName, stage: 'request' },
  };
  const startNode = async (target: Partial<ServedTarget>): Promise<RunningAgent> => {
    const flow = questionFlow() as { readonly nodes: readonly object[] };
    const question = `\${${'input.question'}}`;
    const judged = `\${${'nodes.judge.output.text'}}`;
    const [begin, end] = flow.nodes;
    const agent = await startAgent({
      bundle: agentBundle({
        flow: {
          ...flow,
          nodes: [
            begin,
            { ...node, inputs: { text: question } },
            { ...end, inputs: { text: judged, data: { answer: judged } } },
          ],
          edges: [
            { from: 'start', to: 'judge' },
            { from: 'judge', to: 'end' },
          ],
        },
        bundle: { requires: [{ kind: 'policy', name: policyName }], limits },
      }),
      policy: sampleDefinition(),
      target,
    });
    onTestFinished(() => agent[Symbol.asyncDispose]());
    return agent;
  };

  test('a guardrail node forwards a large text, masked where the policy masks it, or fails permanently where the policy needs the whole text', async () => {
    const agent = await startNode({});
    const masked = await send(agent, { text: `${long}${maskedTerm}` });
    expect([masked.status, masked.text.includes(`${long}${replacement}`)]).toEqual([200, true]);
    expect((await send(agent, { text: `${long}${deniedTerm}` })).code).toBe('guardrail_denied');
    const strict = await startNode(whole);
    expect(await send(strict, { text: fitting })).toMatchObject({ status: 200 });
    const refused = await send(strict, { text: long });
    expect([refused.status, refused.code, refused.text.includes('"refused"')]).toEqual([500, 'flow_failed', true]);
  });
});

test('the text of a file that is larger than one check is judged before the flow reads it', async () => {
  await using world = await openFolderWorld();
  const files = { enabled: true, mediaTypes: ['text/plain'], maxBytes: 1_048_576 };
  await using agent = await startAgent({
    bundle: fileAgentBundle({ manifest: { files }, bundle: { guardrails: { input: guardrail, output: 'None' } } }),
    policy: sampleDefinition(),
    config: { files: world.place },
  });
  const read = async (text: string) => {
    const parts = [{ data: { file: await world.mint(world.add(text)) } }];
    const message = { messageId: 'm', role: 'ROLE_USER', contextId: 'session-1', parts };
    return await agent.call('POST', '/message:send', { message });
  };
  const masked = await read(`${long}${maskedTerm}`);
  expect([masked.status, masked.text.includes(`${long}${replacement}`)]).toEqual([200, true]);
  expect(errorCodeOf(await read(`${long}${deniedTerm}`))).toBe('guardrail_denied');
  const refused = await read(`${fitting}w`);
  expect([refused.status, errorCodeOf(refused)]).toEqual([413, 'request_too_large']);
});

describe('the number of checks of one call', () => {
  const list = { type: 'object', properties: { list: { type: 'array' } }, required: ['list'] };
  const items = (count: number): readonly string[] => Array.from({ length: count }, () => 'w');
  const startList = async (direction: 'input' | 'output'): Promise<RunningAgent> => {
    const flow = questionFlow() as { readonly nodes: readonly object[] };
    const [begin, end] = flow.nodes;
    const data = { list: `\${${'input.list'}}` };
    const agent = await startAgent({
      bundle: agentBundle({
        flow: {
          ...flow,
          input: { schema: list },
          output: { schema: list },
          nodes: [begin, { ...end, inputs: { data } }],
        },
        contract: { inputMediaModes: ['application/json'] },
        bundle: { guardrails: { input: 'None', output: 'None', [direction]: guardrail }, limits },
      }),
      policy: sampleDefinition(),
      target: { maxMessages: 1 },
    });
    onTestFinished(() => agent[Symbol.asyncDispose]());
    return agent;
  };

  // If a check has one message, the name of the member is one of the texts.
  test.each([
    ['input', { status: 413, code: 'request_too_large', retry: null }],
    ['output', { status: 502, code: 'output_invalid', retry: null }],
  ] as const)('a call may need at most 1,024 checks for the %s', async (direction, refused) => {
    const agent = await startList(direction);
    expect(await send(agent, { data: { list: items(1_024) } })).toMatchObject(refused);
    expect(await send(agent, { data: { list: items(1_023) } })).toMatchObject({ status: 200 });
  });

  test('the number of checks of a call includes the windows of a long text of the output', async () => {
    const agent = await startList('output');
    // A window of these words has 1,020 new bytes.
    const [largest, more] = ['word '.repeat(1_023 * 204), 'word '.repeat(1_023 * 204 + 1)];
    expect([windowsOf(largest)?.length, windowsOf(more)?.length]).toEqual([1_023, 1_024]);
    expect(await send(agent, { data: { list: [more] } })).toMatchObject({ status: 502, code: 'output_invalid' });
    expect(await send(agent, { data: { list: [largest] } })).toMatchObject({ status: 200 });
  });
});
