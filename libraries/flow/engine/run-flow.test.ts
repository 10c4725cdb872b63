import { afterEach, expect, test, vi } from 'vitest';
import { loadFlow } from '../loader/load-flow.ts';
import { chainText, flowId, flowText, template } from '../testing/flow-text.ts';
import { runText, scriptedPorts } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import type { FlowPorts, PortRequests } from './ports.ts';
import { runFlow } from './run-flow.ts';

const ref = (path: string): string => `\${${path}}`;
const usage = { promptTokens: 3, completionTokens: 2 };
const answer = async () => ({ text: 'hello', usage });
const prompt = (config: object = {}) => ({
  id: 'ask',
  kind: 'prompt',
  config: { model: 'gpt', messages: [{ role: 'user', content: 'Q: {{input.question}}' }], ...config },
});
const failed = (code: string) => expect.objectContaining({ type: 'failed', code });
const input = { question: 'why?' };
const value = (output: unknown) => ({ type: 'result', result: { data: { value: output } } });
const never = () => new Promise<never>(() => undefined);

afterEach(() => {
  vi.useRealTimers();
});

type KindCase = readonly [kind: string, node: object, given: Partial<FlowPorts>, output: unknown, request: unknown];
const kinds: readonly KindCase[] = [
  ['template', template, {}, { text: 'Hello why?' }, undefined],
  [
    'transform',
    { kind: 'transform', inputs: { a: [ref('input.question'), ref('context.userId')] } },
    {},
    { a: ['why?', 'ann'] },
    undefined,
  ],
  [
    'prompt',
    prompt(),
    { model: answer },
    { text: 'hello', finishReason: 'stop', usage, turns: 1 },
    { model: 'gpt', messages: [{ role: 'user', content: 'Q: why?' }], parameters: {}, tools: [] },
  ],
  [
    'retrieval',
    {
      kind: 'retrieval',
      inputs: { query: ref('input.question'), filters: { lang: 'en' } },
      config: { collection: 'handbook', topK: 3, pack: { tokenBudget: 100 } },
    },
    { retrieval: async () => ({ items: [{ id: 'a' }], text: 'packed' }) },
    { items: [{ id: 'a' }], text: 'packed' },
    { collection: 'handbook', query: 'why?', topK: 3, rerank: false, filters: { lang: 'en' }, tokenBudget: 100 },
  ],
  [
    'memory_search',
    { kind: 'memory_search', inputs: { query: ref('input.question') } },
    { memorySearch: async () => ({ items: [] }) },
    { items: [] },
    { query: 'why?', topK: 8 },
  ],
  [
    'memory_add',
    { kind: 'memory_add', inputs: { text: ref('input.question') } },
    { memoryAdd: async () => ({ eventId: 'e' }) },
    { eventId: 'e' },
    { text: 'why?', infer: true },
  ],
  ['session_get', { kind: 'session_get' }, { sessionGet: async () => ({ state: { n: 1 } }) }, { state: { n: 1 } }, {}],
  [
    'session_put',
    { kind: 'session_put', inputs: { state: { n: 2 } } },
    { sessionPut: async () => ({}) },
    {},
    { state: { n: 2 } },
  ],
  [
    'guardrail that passes',
    { kind: 'guardrail', inputs: { text: ref('input.question') }, config: { policy: 'p', stage: 'request' } },
    { guardrail: async () => ({ decision: 'pass', text: 'ignored' }) },
    { decision: 'pass', text: 'why?' },
    { policy: 'p', stage: 'request', text: 'why?' },
  ],
  [
    'guardrail that masks',
    { kind: 'guardrail', inputs: { text: ref('input.question') }, config: { policy: 'p', stage: 'response' } },
    { guardrail: async () => ({ decision: 'mask', text: '***' }) },
    { decision: 'mask', text: '***' },
    { policy: 'p', stage: 'response', text: 'why?' },
  ],
  [
    'tool_http',
    {
      kind: 'tool_http',
      inputs: { path: { id: 'a/b?c' }, query: { n: 1 }, body: { a: 1 } },
      config: { connection: 'crm', method: 'POST', path: '/users/{id}', responseSchema: { type: 'object' } },
    },
    { http: async () => ({ status: 200, body: { ok: true } }) },
    { status: 200, body: { ok: true } },
    { connection: 'crm', method: 'POST', path: '/users/a%2Fb%3Fc', query: { n: '1' }, body: { a: 1 } },
  ],
  [
    'tool_mcp',
    {
      kind: 'tool_mcp',
      inputs: { arguments: { q: ref('input.question') } },
      config: { server: 'wiki', tool: 'search' },
    },
    { mcp: async () => ({ text: 't', data: { a: 1 } }) },
    { text: 't', data: { a: 1 } },
    { server: 'wiki', tool: 'search', arguments: { q: 'why?' } },
  ],
  [
    'agent',
    { kind: 'agent', inputs: { text: ref('input.question') }, config: { agentId: flowId } },
    { agent: async () => ({ text: 'done' }) },
    { text: 'done' },
    { agentId: flowId, text: 'why?' },
  ],
  [
    'file as text',
    { kind: 'file', inputs: { fileId: 'f' }, config: { use: 'text' } },
    { file: async () => ({ text: 'x', mediaType: 'text/plain' }) },
    { text: 'x', mediaType: 'text/plain' },
    { fileId: 'f', use: 'text' },
  ],
  [
    'file of a provider',
    { kind: 'file', inputs: { fileId: 'f' }, config: { use: 'provider' } },
    { file: async () => ({ providerFileId: 'p', mediaType: 'text/plain' }) },
    { providerFileId: 'p', mediaType: 'text/plain' },
    { fileId: 'f', use: 'provider' },
  ],
];

test.each(kinds)(
  'a flow node of kind %s returns its output and calls its service once',
  async (_, node, given, output, request) => {
    const { last, calls, events } = await runText(chainText([{ ...node, id: 'one' }]), given, { input });
    expect(last).toEqual(value(output));
    expect(calls.map((call) => call.request)).toEqual(request === undefined ? [] : [request]);
    expect(calls.map(({ call }) => [call.runId, call.traceId, call.caller, call.attempt, call.context])).toEqual(
      calls.map(() => ['run', 'trace', 'one', 1, { userId: 'ann' }]),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'nodeStarted',
      'nodeEnded',
      'nodeStarted',
      'nodeEnded',
      'nodeStarted',
      'nodeEnded',
      'result',
    ]);
  },
);

const calling = kinds.filter(([, , , , request]) => request !== undefined);
test.each(calling)(
  'a flow node of kind %s ends with a typed error when its service is unavailable, denies, throws or answers in another shape',
  async (_, node) => {
    for (const code of [
      'unavailable',
      'rate_limited',
      'refused',
      'not_found',
      'forbidden',
      'guardrail_denied',
      'input_required',
      'auth_required',
      'file_provider_mapping_failed',
    ] as const) {
      const port = async () => Promise.reject(new PortError(code));
      const { last } = await runText(chainText([{ ...node, id: 'one' }]), everyPort(port), { input });
      expect(last).toEqual(failed(code));
    }
    const broken = await runText(
      chainText([{ ...node, id: 'one' }]),
      everyPort(() => Promise.reject(new Error('secret'))),
      { input },
    );
    expect(broken.last).toEqual(failed('internal'));
    expect(JSON.stringify(broken.events)).not.toContain('secret');
    const shape = await runText(
      chainText([{ ...node, id: 'one' }]),
      everyPort(async () => 7),
      { input },
    );
    expect(shape.last).toEqual(failed('answer_invalid'));
  },
);

function everyPort(port: () => Promise<unknown>): Partial<FlowPorts> {
  const names = [
    'model',
    'retrieval',
    'memorySearch',
    'memoryAdd',
    'sessionGet',
    'sessionPut',
    'guardrail',
    'http',
    'mcp',
    'agent',
    'file',
  ];
  return Object.fromEntries(names.map((name) => [name, port]));
}

test('a guardrail node that denies ends the run, and no later node runs', async () => {
  const check = { id: 'one', kind: 'guardrail', inputs: { text: 'a' }, config: { policy: 'p', stage: 'request' } };
  const { last, calls } = await runText(
    chainText([check, prompt()]),
    { guardrail: async () => ({ decision: 'deny' }), model: answer },
    { input },
  );
  expect(last).toEqual(failed('guardrail_denied'));
  expect(calls).toHaveLength(1);
});

test('a node of kind fail ends the run with the code and the message of the author', async () => {
  const text = flowText({
    nodes: [{ id: 'stop', kind: 'fail', config: { code: 'no_answer', message: 'There is no answer.' } }],
    edges: [['start', 'stop']],
  }).replace(/^ {2}- \{"id":"end".*\n/m, '');
  const { last } = await runText(text);
  expect(last).toMatchObject({ type: 'failed', code: 'flow_failed', flowCode: 'no_answer', path: 'stop' });
  expect(last).toMatchObject({ message: expect.stringContaining('There is no answer.') });
});

test('an input that does not match the schema of the flow is refused before any node runs', async () => {
  const { events } = await runText(flowText({ input: { type: 'object', required: ['question'] } }));
  expect(events).toEqual([failed('input_invalid')]);
});

test('an entry point that does not exist in the flow is refused before any node runs', async () => {
  for (const entrypoint of ['other', 'constructor']) {
    expect((await runText(flowText(), {}, { entrypoint })).events).toEqual([failed('entrypoint_unknown')]);
  }
});

test('a flow result that does not match the output schema ends the run with an error', async () => {
  const schema = { type: 'object', properties: { value: { type: 'object', required: ['a'] } } };
  const node = { id: 'one', kind: 'tool_mcp', config: { server: 's', tool: 't' }, outputSchema: { type: 'object' } };
  const { last } = await runText(chainText([node], { output: schema }), { mcp: async () => ({ text: 't' }) });
  expect(last).toEqual(failed('output_invalid'));
});

test('a condition node continues with its first case that is true, or with its default', async () => {
  const text = (when: object) =>
    flowText({
      nodes: [
        {
          id: 'if',
          kind: 'condition',
          config: {
            cases: [
              { name: 'yes', when },
              { name: 'also', when: { eq: [1, 1] } },
            ],
            default: 'no',
          },
        },
        { id: 'a', kind: 'output', inputs: { text: 'a' } },
        { id: 'b', kind: 'output', inputs: { text: 'b' } },
      ],
      edges: [
        ['start', 'if'],
        ['if', 'a', 'yes'],
        ['if', 'b', 'also'],
        ['if', 'end', 'no'],
      ],
    });
  expect((await runText(text({ eq: [ref('input.question'), 'why?'] }), {}, { input })).last).toMatchObject({
    result: { text: 'a' },
  });
  expect((await runText(text({ exists: ref('input.other') }), {}, { input })).last).toMatchObject({
    result: { text: 'b' },
  });
  expect((await runText(text({ lt: [ref('input.question'), 1] }), {}, { input })).last).toEqual(
    failed('type_mismatch'),
  );
});

test('a flow expression without a value ends the run, and the error names the expression', async () => {
  const { last } = await runText(chainText([{ id: 'one', kind: 'transform', inputs: { a: ref('input.question') } }]));
  expect(last).toMatchObject({
    type: 'failed',
    code: 'path_missing',
    path: 'one',
    message: expect.stringContaining('input.question'),
  });
});

test('a result with an expression without a value and a text of another type ends with path_missing', async () => {
  const text = flowText({
    nodes: [
      { id: 'if', kind: 'condition', config: { cases: [{ name: 'yes', when: { eq: [1, 1] } }], default: 'no' } },
      { id: 'a', kind: 'output', inputs: { text: ref('context'), data: { found: ref('input.other') } } },
    ],
    edges: [
      ['start', 'if'],
      ['if', 'a', 'yes'],
      ['if', 'end', 'no'],
    ],
  });
  expect((await runText(text, {}, { input })).last).toMatchObject({ code: 'path_missing', path: 'a' });
});

test('after an error in a node, the run continues with the node that its onError names', async () => {
  const text = flowText({
    nodes: [
      { ...prompt(), onError: { goto: 'instead' } },
      { id: 'instead', kind: 'output', inputs: { text: 'later' } },
    ],
    edges: [
      ['start', 'ask'],
      ['ask', 'end'],
    ],
  });
  expect((await runText(text, {}, { input })).last).toMatchObject({ result: { text: 'later' } });
  expect((await runText(text, { model: answer }, { input })).last).toMatchObject({ result: { text: 'done' } });
});

const loop = (config: object, inputs: object | null = { items: ref('input.items') }) => ({
  id: 'each',
  kind: 'loop',
  ...(inputs === null ? {} : { inputs }),
  config: { body: 'one', maxIterations: 10, ...config },
});
const body = (nodes: readonly object[]) => ({ nodes: nodes as never });

test('a loop node runs its body for each item and returns the outputs in the order of the items, with any concurrency', async () => {
  const items = [null, 1, 'b', { c: 2 }];
  for (const concurrency of [1, 3]) {
    const text = chainText(
      [loop({ concurrency })],
      body([{ id: 'one', kind: 'transform', inputs: { got: ref('item') } }]),
    );
    const { last, events } = await runText(text, {}, { input: { items } });
    expect(last).toEqual(value({ items: items.map((got) => ({ got })), turns: 4 }));
    expect(events).toContainEqual(expect.objectContaining({ type: 'nodeStarted', path: 'each[2]/one' }));
  }
});

test('a loop node over more items than its maximum of turns fails, or ends at the maximum if onLimit is end', async () => {
  const text = (config: object) =>
    chainText(
      [loop({ maxIterations: 2, ...config })],
      body([{ id: 'one', kind: 'transform', inputs: { got: ref('item') } }]),
    );
  expect((await runText(text({}), {}, { input: { items: [1, 2] } })).last).toMatchObject({ type: 'result' });
  expect((await runText(text({}), {}, { input: { items: [1, 2, 3] } })).last).toEqual(failed('iterations_exceeded'));
  expect((await runText(text({ onLimit: 'end' }), {}, { input: { items: [1, 2, 3] } })).last).toEqual(
    value({ items: [{ got: 1 }, { got: 2 }], turns: 2 }),
  );
  expect((await runText(text({}), {}, { input: { items: 'abc' } })).last).toEqual(failed('type_mismatch'));
});

const state = {
  schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
  initial: { a: '1', b: '2' },
};
test('the state of a loop node is assigned at the end of a turn, from values that were read before', async () => {
  const swap = loop({ while: { ne: [ref('state.a'), '2'] }, state: { a: ref('state.b'), b: ref('state.a') } }, null);
  const text = chainText([{ ...swap }, { id: 'end', kind: 'transform', inputs: { state: ref('state') } }], {
    state,
    ...body([{ id: 'one', kind: 'transform', inputs: {} }]),
  });
  expect((await runText(text)).last).toEqual(value({ state: { a: '2', b: '1' } }));
});

test('a loop node with while ends at its maximum of turns, and a state that does not match its schema ends the run', async () => {
  const forever = (assigned: object, config: object = {}) =>
    chainText([loop({ while: { eq: [1, 1] }, state: assigned, maxIterations: 3, ...config }, null)], {
      state,
      ...body([{ id: 'one', kind: 'tool_mcp', config: { server: 's', tool: 't' } }]),
    });
  const mcp = async () => ({ text: 't', data: 5 });
  expect((await runText(forever({ a: 'x' }), { mcp })).last).toEqual(failed('iterations_exceeded'));
  expect((await runText(forever({ a: 'x' }, { onLimit: 'end' }), { mcp })).last).toMatchObject({
    result: { data: { value: { turns: 3 } } },
  });
  expect((await runText(forever({ a: ref('nodes.one.output.data') }), { mcp })).last).toEqual(failed('state_invalid'));
});

const branches = (nodes: readonly { readonly id: string }[], config: object = {}) =>
  chainText(
    [{ id: 'both', kind: 'parallel', config: { branches: nodes.map(({ id }) => id), ...config } }],
    body(nodes),
  );
const tool = (id: string) => ({ id, kind: 'tool_mcp', config: { server: 's', tool: id } });

test('a parallel node returns the outputs of its branches under the ids of their first nodes', async () => {
  const { last } = await runText(branches([tool('a'), tool('b')]), { mcp: async ({ tool: name }) => ({ text: name }) });
  expect(last).toEqual(value({ a: { text: 'a' }, b: { text: 'b' } }));
});

test('a parallel node runs at most as many branches at a time as its concurrency', async () => {
  let [now, most] = [0, 0];
  const mcp = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return { text: '' };
  };
  const nodes = ['a', 'b', 'c', 'd', 'e'].map(tool);
  await runText(branches(nodes, { concurrency: 2 }), { mcp });
  expect(most).toBe(2);
});

test('no more than 16 calls of one run are in flight, however its nodes are nested', async () => {
  let [now, most] = [0, 0];
  const mcp = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return { text: '' };
  };
  const inner = {
    ...loop({ body: 'leaf', concurrency: 16, maxIterations: 10 }),
    id: 'inner',
    inputs: { items: ref('input.items') },
  };
  const text = chainText([loop({ body: 'inner', concurrency: 16 })], body([inner, tool('leaf')]));
  const { calls } = await runText(text, { mcp }, { input: { items: [1, 2, 3, 4, 5, 6] } });
  expect([calls.length, most]).toEqual([36, 16]);
});

test('an error in one branch aborts the calls of the other branches and becomes the error of the parallel node', async () => {
  const aborted: unknown[] = [];
  const mcp: FlowPorts['mcp'] = async ({ tool: name }, { signal }) => {
    if (name === 'b') throw new PortError('refused');
    return await new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(name);
        reject(signal.reason);
      });
    });
  };
  const { last, events } = await runText(branches([tool('a'), tool('b')]), { mcp });
  expect(last).toMatchObject({ type: 'failed', code: 'refused', path: 'both/b' });
  expect(aborted).toEqual(['a']);
  expect(events).toContainEqual(expect.objectContaining({ type: 'nodeEnded', node: 'a', outcome: 'cancelled' }));
});

test('a subflow runs in the same run and trace, and its result is the output of the node', async () => {
  const inner = chainText([prompt()], {}).replace(
    /\{"value":"[^"]*"\}/,
    `{"answer":"${ref('nodes.ask.output.text')}"}`,
  );
  const load = loadFlow(inner);
  const sha256 = load.ok ? load.flow.sha256 : '';
  const outer = chainText([
    {
      id: 'sub',
      kind: 'subflow',
      inputs: { question: ref('input.question') },
      config: { flowId, sha256, entrypoint: 'main' },
    },
  ]);
  const { last, calls, events } = await runText(outer, { model: answer }, { input, subflow: inner });
  expect(last).toEqual(value({ data: { answer: 'hello' } }));
  expect(calls[0]?.call).toMatchObject({ runId: 'run', traceId: 'trace' });
  expect(events).toContainEqual(expect.objectContaining({ path: 'sub/ask', type: 'nodeEnded', outcome: 'ok' }));
});

const tools = [
  {
    name: 'look',
    description: 'd',
    parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
    mcp: { server: 's', tool: 't' },
  },
  {
    name: 'user',
    description: 'd',
    parameters: { type: 'object', properties: { id: { type: 'string' }, full: { type: 'boolean' } }, required: ['id'] },
    http: { connection: 'crm', method: 'GET', path: '/users/{id}' },
  },
  { name: 'peer', description: 'd', agent: { agentId: flowId } },
  { name: 'docs', description: 'd', retrieval: { collection: 'handbook' } },
];
const call = (id: string, name: string, given: object) => ({ id, name, arguments: given as never });

test('the model of a prompt node chooses among tools, agents and collections, and receives each answer or error', async () => {
  let turn = 0;
  const model: FlowPorts['model'] = async () => {
    turn += 1;
    if (turn === 2) return { text: 'final', usage };
    const toolCalls = [
      call('1', 'look', { q: 'x' }),
      call('2', 'user', { id: 'a/b', full: true }),
      call('3', 'peer', { message: 'hi' }),
      call('4', 'docs', { query: 'x' }),
      call('5', 'look', { q: 1 }),
      call('6', 'absent', {}),
    ];
    return { text: '', toolCalls, usage };
  };
  const given: Partial<FlowPorts> = {
    model,
    mcp: async () => ({ text: 'found', data: { a: 1 } }),
    http: async () => ({ status: 200, body: 'u' }),
    agent: () => Promise.reject(new PortError('forbidden')),
    retrieval: async () => ({ items: [{ t: 1 }] }),
  };
  const { last, calls } = await runText(chainText([prompt({ tools })]), given, { input });
  expect(last).toMatchObject({
    result: { data: { value: { text: 'final', turns: 2, usage: { promptTokens: 6, completionTokens: 4 } } } },
  });
  const second = calls.filter(({ port }) => port === 'model')[1]?.request as {
    messages: { toolCallId?: string; content: string }[];
  };
  expect(second.messages.slice(2).map(({ toolCallId, content }) => [toolCallId, JSON.parse(content)])).toEqual([
    ['1', { a: 1 }],
    ['2', { status: 200, body: 'u' }],
    ['3', { error: 'forbidden' }],
    ['4', [{ t: 1 }]],
    ['5', { error: 'arguments_invalid' }],
    ['6', { error: 'tool_unknown' }],
  ]);
  expect(calls.find(({ port }) => port === 'http')?.request).toMatchObject({
    path: '/users/a%2Fb',
    query: { full: 'true' },
  });
  expect(calls.find(({ port }) => port === 'mcp')?.call.caller).toBe('ask.look');
});

test('a prompt node whose model calls tools in each turn ends with a typed error after maxTurns model calls', async () => {
  const model: FlowPorts['model'] = async () => ({ text: '', toolCalls: [call('1', 'look', { q: 'x' })], usage });
  const { last, calls } = await runText(
    chainText([prompt({ tools, maxTurns: 3 })]),
    { model, mcp: async () => ({ text: '' }) },
    { input },
  );
  expect(last).toEqual(failed('turns_exceeded'));
  expect(calls.filter(({ port }) => port === 'model')).toHaveLength(3);
});

test('a prompt node with a response schema returns data, and a text that does not match the schema is an invalid answer', async () => {
  const responseSchema = { type: 'object', required: ['a'] };
  const ask = (text: string) =>
    runText(chainText([prompt({ responseSchema })]), { model: async () => ({ text, usage }) }, { input });
  expect((await ask('{"a": 1}')).last).toMatchObject({ result: { data: { value: { data: { a: 1 } } } } });
  for (const text of ['{}', 'no', '{"a": 1, "a": 2}']) expect((await ask(text)).last).toEqual(failed('answer_invalid'));
});

test('the text of a streaming prompt arrives as events, and the call is not retried after the first one', async () => {
  const retry = { maxAttempts: 3, backoffMs: 1 };
  const streaming: FlowPorts['model'] = async ({ onText }) => {
    onText?.('hel');
    throw new PortError('unavailable');
  };
  const { events, calls } = await runText(
    chainText([{ ...prompt({ stream: true }), retry }]),
    { model: streaming },
    { input },
  );
  expect(events).toContainEqual({ type: 'text', node: 'ask', path: 'ask', text: 'hel' });
  expect([events.at(-1), calls.length]).toEqual([failed('unavailable'), 1]);
  const silent = await runText(
    chainText([prompt()]),
    { model: async ({ onText }) => ({ text: String(onText), usage }) },
    { input },
  );
  expect(silent.last).toMatchObject({ result: { data: { value: { text: 'undefined' } } } });
});

test('a flow node is retried with backoff after the errors that its retry lists, and not after others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const times: number[] = [];
  const run = async (codes: readonly string[], retry: object) => {
    times.length = 0;
    let at = 0;
    const mcp = async () => {
      times.push(Date.now());
      const code = codes[at];
      at += 1;
      if (code !== undefined) throw new PortError(code as never);
      return { text: 'ok' };
    };
    const ended = runText(chainText([{ ...tool('one'), retry }]), { mcp });
    await vi.runAllTimersAsync();
    return await ended;
  };
  const good = await run(['unavailable', 'rate_limited'], { maxAttempts: 3, backoffMs: 100 });
  expect(good.last).toEqual(value({ text: 'ok' }));
  expect(good.calls.map((one) => one.call.attempt)).toEqual([1, 2, 3]);
  expect(good.events).toContainEqual(expect.objectContaining({ type: 'nodeEnded', node: 'one', attempts: 3 }));
  expect((await run(['unavailable', 'unavailable'], { maxAttempts: 2 })).last).toEqual(failed('unavailable'));
  expect((await run(['refused'], { maxAttempts: 3 })).calls).toHaveLength(1);
  expect((await run(['unavailable'], { maxAttempts: 3, on: ['timeout'] })).calls).toHaveLength(1);
});

test('an attempt of a flow node that exceeds timeoutMs ends as timeout, even when the called service ignores the abort', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let signal: AbortSignal | undefined;
  const mcp: FlowPorts['mcp'] = (_, given) => {
    signal = given.signal;
    return never();
  };
  const ended = runText(chainText([{ ...tool('one'), timeoutMs: 1_000 }]), { mcp });
  await vi.advanceTimersByTimeAsync(999);
  expect(signal?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect([(await ended).last, signal?.aborted]).toEqual([failed('timeout'), true]);
});

test('a container node has its own time limit, at which the calls of its inner nodes are cancelled', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const text = chainText([{ ...loop({}), timeoutMs: 500 }], body([tool('one')]));
  const ended = runText(text, { mcp: never }, { input: { items: [1] } });
  await vi.advanceTimersByTimeAsync(500);
  expect((await ended).last).toMatchObject({ type: 'failed', code: 'timeout' });
});

test('a flow run that exceeds its time budget ends as deadline_exceeded, which no onError can handle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const text = flowText({
    nodes: [{ ...tool('one'), onError: { goto: 'end' } }],
    edges: [
      ['start', 'one'],
      ['one', 'end'],
    ],
  });
  const ended = runText(text, { mcp: never }, { budget: { timeoutMs: 100 } });
  await vi.advanceTimersByTimeAsync(100);
  expect((await ended).last).toEqual(failed('deadline_exceeded'));
});

test('aborting a flow run cancels every call in flight and ends the run as cancelled', async () => {
  const controller = new AbortController();
  const signals: AbortSignal[] = [];
  const mcp: FlowPorts['mcp'] = (_, { signal }) => {
    signals.push(signal);
    if (signals.length === 3) controller.abort();
    return never();
  };
  const { last } = await runText(branches(['a', 'b', 'c'].map(tool)), { mcp }, { signal: controller.signal });
  expect([last, signals.map((signal) => signal.aborted)]).toEqual([failed('cancelled'), [true, true, true]]);
});

test('a flow run that is aborted before its start calls no service', async () => {
  const { last, calls } = await runText(chainText([tool('one')]), {}, { signal: AbortSignal.abort() });
  expect([last, calls]).toEqual([failed('cancelled'), []]);
});

test('when the reader of the events of a flow run stops reading, the calls of the run are aborted', async () => {
  const load = loadFlow(chainText([tool('one')]));
  if (!load.ok) throw new Error('the flow is refused');
  let signal: AbortSignal | undefined;
  const { ports } = scriptedPorts({
    mcp: (_, given) => {
      signal = given.signal;
      return never();
    },
  });
  const request = { entrypoint: 'main', input: {}, context: {}, runId: 'r', traceId: 't' };
  for await (const event of runFlow(load.flow, request, ports, new AbortController().signal)) {
    if (event.type !== 'nodeStarted' || event.node !== 'one') continue;
    await new Promise((resolve) => setImmediate(resolve));
    expect(signal?.aborted).toBe(false);
    break;
  }
  expect(signal?.aborted).toBe(true);
});

test('a loop of templates without any call can be cancelled', async () => {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  const text = chainText(
    [loop({ while: { eq: [1, 1] }, maxIterations: 10_000 }, null)],
    body([{ ...template, id: 'one' }]),
  );
  const { last } = await runText(text, {}, { input, signal: controller.signal });
  expect(last).toEqual(failed('cancelled'));
});

test('a loop node of 10000 turns completes', async () => {
  const text = chainText(
    [loop({ while: { eq: [1, 1] }, maxIterations: 10_000, onLimit: 'end' }, null)],
    body([{ id: 'one', kind: 'transform', inputs: {} }]),
  );
  expect((await runText(text)).last).toMatchObject({ result: { data: { value: { turns: 10_000 } } } });
});

test.each([
  ['nodes', 3, 2],
  ['modelTokens', 5, 4],
  ['outputBytes', 1_000, 20],
])('a flow run with a budget of %s succeeds with %i and fails with %i', async (name, enough, less) => {
  const run = (amount: number) =>
    runText(chainText([prompt()]), { model: answer }, { input, budget: { [name]: amount } });
  expect((await run(enough)).last).toMatchObject({ type: 'result' });
  expect((await run(less)).last).toEqual(failed('budget_exceeded'));
});

test('a requested budget above the limits of a flow run does not raise them', async () => {
  const spends = (completionTokens: number) => async () => ({
    text: 'x',
    usage: { promptTokens: 0, completionTokens },
  });
  const run = (tokens: number) =>
    runText(chainText([prompt()]), { model: spends(tokens) }, { input, budget: { modelTokens: 9e9 } });
  expect((await run(2_000_000)).last).toMatchObject({ type: 'result' });
  expect((await run(2_000_001)).last).toEqual(failed('budget_exceeded'));
});

test.each([
  ['no limit of the author and a large rest', {}, 4_097, undefined],
  ['no limit of the author and a small rest', {}, 4_096, 4_096],
  ['a limit below the rest', { maxTokens: 5_000 }, 5_001, 5_000],
  ['a limit above the rest', { maxTokens: 5_000 }, 4_999, 4_999],
])(
  'with %s, a prompt limits the tokens of its answer as far as a model accepts it',
  async (_, parameters, left, sent) => {
    const { calls } = await runText(
      chainText([prompt({ parameters })]),
      { model: answer },
      { input, budget: { modelTokens: left } },
    );
    expect(calls.map(({ request }) => (request as PortRequests['model']).parameters.maxTokens)).toEqual([sent]);
  },
);

test('the output of a flow node has at most 1048576 bytes as JSON, even when it contains one value many times', async () => {
  const run = (bytes: number, copies: number) => {
    const node = {
      id: 'one',
      kind: 'transform',
      inputs: { list: Array.from({ length: copies }, () => ref('input.text')) },
    };
    return runText(chainText([node]), {}, { input: { text: 'x'.repeat(bytes) } });
  };
  expect((await run(1_000, 1_000)).last).toMatchObject({ type: 'result' });
  expect((await run(1_000, 1_048)).last).toEqual(failed('output_invalid'));
  expect((await run(1_048_576 - '{"text":""}'.length + 1, 1)).last).toEqual(failed('output_invalid'));
});

test.each(['', '.', '..'])('the value %j is refused in the URL path of a tool node', async (id) => {
  const node = {
    id: 'one',
    kind: 'tool_http',
    inputs: { path: { id: ref('input.id') } },
    config: { connection: 'c', method: 'GET', path: '/a/{id}' },
  };
  const { last, calls } = await runText(
    chainText([node]),
    { http: async () => ({ status: 200, body: null }) },
    { input: { id } },
  );
  expect([last, calls]).toEqual([failed('type_mismatch'), []]);
});

test('of the events of a flow run, only text and result contain text of its content', async () => {
  const secret = 'a text of the run';
  const { events } = await runText(
    chainText([prompt(), tool('two')]),
    { model: async () => ({ text: secret, usage }) },
    { input: { question: secret } },
  );
  expect(JSON.stringify(events)).not.toContain(secret);
});
