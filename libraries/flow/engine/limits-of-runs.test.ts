import { expect, test } from 'vitest';
import type { JsonValue } from '#kit/json/json-value';
import { loadTests } from '../cases/load-tests.ts';
import { flowDigest, loadFlow } from '../loader/load-flow.ts';
import { chainText, flowId, flowText } from '../testing/flow-text.ts';
import { runText, scriptedPorts } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import { runFlow } from './run-flow.ts';

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const ref = (path: string): string => `\${${path}}`;

/** A chain of conditions with this number of edges in total; all cases of a condition lead to the next one. */
function withEdges(count: number): string {
  const sizes: number[] = [];
  for (let left = count - 1; left > 0; left -= 64) sizes.push(Math.min(64, left));
  const names = (size: number) => times(size, (at) => `c${at}`);
  const nodes = sizes.map((size, at) => ({
    id: `if${at}`,
    kind: 'condition',
    config: { cases: names(size).map((name) => ({ name, when: { eq: [1, 2] } })), default: 'c0' },
  }));
  const edges = sizes.flatMap((size, at) =>
    names(size).map((name) => [`if${at}`, at + 1 < sizes.length ? `if${at + 1}` : 'end', name] as const),
  );
  return flowText({ nodes, edges: [['start', 'if0'], ...edges] });
}

test('a flow has at most 800 edges', () => {
  expect(loadFlow(withEdges(800)).ok).toBe(true);
  expect(loadFlow(withEdges(801))).toMatchObject({ ok: false, problems: [{ path: 'edges' }] });
});

test('a file of tests has 1 to 200 tests', () => {
  const load = loadFlow(flowText());
  if (!load.ok) throw new Error('the flow is refused');
  const tests = (count: number) =>
    JSON.stringify({
      apiVersion: 'platform.low-code.flow-tests/v1',
      tests: times(count, (at) => ({ name: `t${at}`, input: { question: 'a' }, expect: { text: 'done' } })),
    });
  expect([1, 200].map((count) => loadTests(tests(count), load.flow).ok)).toEqual([true, true]);
  expect([0, 201].map((count) => loadTests(tests(count), load.flow).ok)).toEqual([false, false]);
});

const deep = (levels: number): JsonValue => (levels === 0 ? 'end' : [deep(levels - 1)]);

/** The end of a flow that reads a value with this number of levels and puts more levels around it. */
async function endOf(levels: number, around: (value: string) => JsonValue): Promise<string> {
  const nodes = [
    { id: 'get', kind: 'tool_http', config: { connection: 'c', method: 'GET', path: '/' } },
    { id: 'wrap', kind: 'transform', inputs: { a: around(ref('nodes.get.output.body')) } },
  ];
  const edges = [
    ['start', 'get'],
    ['get', 'wrap'],
    ['wrap', 'end'],
  ] as const;
  const { last } = await runText(flowText({ nodes, edges }), {
    http: async () => ({ status: 200, body: deep(levels) }),
  });
  return last?.type === 'failed' ? `${last.code} ${last.path}` : String(last?.type);
}

test('the output of a flow node and the answer of a service have at most 64 levels', async () => {
  expect(await endOf(63, (value) => value)).toBe('result');
  expect(await endOf(64, (value) => value)).toBe('answer_invalid get');
  expect(await endOf(62, (value) => ({ b: value }))).toBe('result');
  expect(await endOf(63, (value) => ({ b: value }))).toBe('output_invalid wrap');
});

/** The end of a flow of these nodes, where `get` reads a text of this size. */
async function endWith(bytes: number, nodes: readonly { readonly id: string }[], parts: object = {}): Promise<string> {
  const get = { id: 'get', kind: 'tool_http', config: { connection: 'c', method: 'GET', path: '/' } };
  const { last, calls } = await runText(chainText([get, ...nodes], parts), {
    http: async ({ method }) => ({ status: 200, body: method === 'GET' ? 'x'.repeat(bytes) : null }),
  });
  const end = last?.type === 'failed' ? `${last.code} ${last.path}` : String(last?.type);
  return `${end} after ${calls.length} calls`;
}

test('a value that a flow builds for a call has at most 4 MiB, however often it refers to one part', async () => {
  const body = Array<string>(8).fill(ref('nodes.get.output.body'));
  const send = {
    id: 'send',
    kind: 'tool_http',
    inputs: { body },
    config: { connection: 'c', method: 'POST', path: '/' },
  };
  // Eight texts in quotes, seven commas, two brackets.
  const most = (4_194_304 - 9) / 8 - 2;
  expect(await endWith(Math.floor(most), [send])).toBe('result after 2 calls');
  expect(await endWith(Math.floor(most) + 1, [send])).toBe('output_invalid send after 1 calls');
  const named = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`a${at}`, body]));
  const inner = chainText([{ id: 'greet', kind: 'template', config: { text: 'x' } }]);
  const config = { flowId, sha256: flowDigest(inner) ?? '', entrypoint: 'main' };
  const sub = { id: 'sub', kind: 'subflow', inputs: named, config };
  const run = async (bytes: number) => {
    const get = { id: 'get', kind: 'tool_http', config: { connection: 'c', method: 'GET', path: '/' } };
    const http = async () => ({ status: 200, body: 'x'.repeat(bytes) });
    return (await runText(chainText([get, sub]), { http }, { subflow: inner })).last;
  };
  expect(await run(1_000)).toMatchObject({ type: 'result' });
  expect(await run(6_000)).toMatchObject({ type: 'failed', code: 'output_invalid', path: 'sub' });
});

test('the state of a flow has at most 4 MiB and 64 levels, however often it refers to one part', async () => {
  const text = { id: 'text', kind: 'template', config: { text: 'x' } };
  const loopOf = (maxIterations: number, state: object) => ({
    id: 'again',
    kind: 'loop',
    config: { body: 'text', maxIterations, while: { eq: [1, 1] }, onLimit: 'end', state },
  });
  const withState = { state: { schema: { type: 'object' }, initial: { a: 'x' } }, nodes: [text] };
  const kept = { a: Array<string>(8).fill(ref('nodes.get.output.body')) };
  const most = (4_194_304 - 15) / 8 - 2;
  expect(await endWith(Math.floor(most), [loopOf(1, kept)], withState)).toBe('result after 1 calls');
  expect(await endWith(Math.floor(most) + 1, [loopOf(1, kept)], withState)).toBe('state_invalid again after 1 calls');
  const doubled = { a: [ref('state.a'), ref('state.a')] };
  expect(await endWith(1, [loopOf(18, doubled)], withState)).toBe('result after 1 calls');
  expect(await endWith(1, [loopOf(28, doubled)], withState)).toBe('state_invalid again after 1 calls');
  const nested = { a: [ref('state.a')] };
  expect(await endWith(1, [loopOf(63, nested)], withState)).toBe('result after 1 calls');
  expect(await endWith(1, [loopOf(64, nested)], withState)).toBe('state_invalid again after 1 calls');
});

test('the pause between two attempts of a flow node is at most 60 seconds', async () => {
  const tool = { id: 'one', kind: 'tool_mcp', config: { server: 's', tool: 't' } };
  const pausesOf = async (backoffMs: number): Promise<readonly number[]> => {
    const load = loadFlow(chainText([{ ...tool, retry: { maxAttempts: 5, backoffMs } }]));
    if (!load.ok) throw new Error('the flow is refused');
    const { ports } = scriptedPorts({ mcp: async () => Promise.reject(new PortError('unavailable')) });
    const pauses: number[] = [];
    const pause = async (ms: number): Promise<void> => void pauses.push(ms);
    const request = { entrypoint: 'main', input: {}, context: {}, runId: 'r', traceId: 't' };
    const signal = new AbortController().signal;
    for await (const event of runFlow(load.flow, request, ports, signal, { random: () => 0, pause })) void event;
    return pauses;
  };
  expect(await pausesOf(7_500)).toEqual([7_500, 15_000, 30_000, 60_000]);
  expect(await pausesOf(7_501)).toEqual([7_501, 15_002, 30_004, 60_000]);
  expect(await pausesOf(30_000)).toEqual([30_000, 60_000, 60_000, 60_000]);
});

test('a run whose right has ended makes no further call, whatever its flow does after errors', async () => {
  const tool = { kind: 'tool_mcp', config: { server: 's', tool: 't' }, onError: { goto: 'two' } };
  const nodes = [
    { ...tool, id: 'one' },
    { id: 'two', kind: 'tool_mcp', config: { server: 's', tool: 't' } },
  ];
  const edges = [
    ['start', 'one'],
    ['one', 'end'],
    ['two', 'end'],
  ] as const;
  const run = (code: 'grant_ended' | 'forbidden') =>
    runText(flowText({ nodes, edges }), { mcp: async () => Promise.reject(new PortError(code)) });
  const { last, calls } = await run('grant_ended');
  expect([last, calls.length]).toMatchObject([{ type: 'failed', code: 'grant_ended', path: 'one' }, 1]);
  expect((await run('forbidden')).calls).toHaveLength(2);
});
