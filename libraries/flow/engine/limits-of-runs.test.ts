import { expect, test } from 'vitest';
import type { JsonValue } from '#kit/json/json-value';
import { loadTests } from '../cases/load-tests.ts';
import { loadFlow } from '../loader/load-flow.ts';
import { chainText, flowText } from '../testing/flow-text.ts';
import { runText, scriptedPorts } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import { runFlow } from './run-flow.ts';

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const ref = (path: string): string => `\${${path}}`;

/** A chain of conditions, whose cases all lead to the next one, with this number of edges in total. */
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

/** The end of a flow that reads a value with this number of levels and puts further ones around it. */
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
