import { expect, test } from 'vitest';
import { verifies } from '../../../e2e/support/verifies.ts';
import { chainText, flowText } from '../testing/flow-text.ts';
import { loadFlow } from './load-flow.ts';

const isAccepted = (text: string): boolean => loadFlow(text).ok;
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const message = { role: 'user', content: 'a' };
const tool = (at: number) => ({ name: `t${at}`, description: 'd', retrieval: { collection: 'c' } });
const prompt = (config: object, more: object = {}) =>
  chainText([{ id: 'one', kind: 'prompt', config: { model: 'm', messages: [message], ...config }, ...more }]);
const retrieval = (config: object) =>
  chainText([{ id: 'one', kind: 'retrieval', inputs: { query: 'a' }, config: { collection: 'c', ...config } }]);
const loop = (config: object) =>
  chainText(
    [{ id: 'one', kind: 'loop', inputs: { items: [] }, config: { body: 'two', maxIterations: 1, ...config } }],
    {
      nodes: [{ id: 'two', kind: 'transform', inputs: {} }],
    },
  );
const parallel = (count: number, config: object = {}) => {
  const ids = times(count, (at) => `b${at}`);
  return chainText([{ id: 'one', kind: 'parallel', config: { branches: ids, ...config } }], {
    nodes: ids.map((id) => ({ id, kind: 'transform', inputs: {} })),
  });
};
const cases = (count: number) =>
  flowText({
    nodes: [
      {
        id: 'if',
        kind: 'condition',
        config: { cases: times(count, (at) => ({ name: `c${at}`, when: { eq: [1, at] } })), default: 'c0' },
      },
    ],
    edges: [['start', 'if'], ...times(count, (at) => ['if', 'end', `c${at}`] as const)],
  });
const fail = (length: number) =>
  flowText({
    nodes: [{ id: 'stop', kind: 'fail', config: { code: 'stop', message: 'x'.repeat(length) } }],
    edges: [['start', 'stop']],
  }).replace(/^ {2}- \{"id":"end".*\n/m, '');
const deep = (levels: number): object => (levels === 1 ? {} : { items: deep(levels - 1) });
const entrypoints = (count: number) =>
  flowText({ entrypoints: Object.fromEntries(times(count, (at) => [`e${at}`, 'start'])) });
const described = (length: number) =>
  flowText().replace('version: 1', `version: 1, description: ${'x'.repeat(length)}`);
const titled = (length: number) => flowText().replace('version: 1', `version: 1, title: ${'x'.repeat(length)}`);
const pattern = (length: number) =>
  flowText({
    nodes: [
      {
        id: 'if',
        kind: 'condition',
        config: { cases: [{ name: 'a', when: { matches: ['a', `[${'a'.repeat(length - 2)}]`] } }], default: 'a' },
      },
    ],
    edges: [
      ['start', 'if'],
      ['if', 'end', 'a'],
    ],
  });

test.each<readonly [string, number | undefined, number, (amount: number) => string]>([
  ['entry points', 1, 16, entrypoints],
  ['turns of a loop', 1, 10_000, (maxIterations) => loop({ maxIterations })],
  ['turns of a loop beside each other', 1, 16, (concurrency) => loop({ concurrency })],
  ['branches', 2, 64, (count) => parallel(count)],
  ['branches beside each other', 1, 16, (concurrency) => parallel(2, { concurrency })],
  ['cases', 1, 64, cases],
  ['messages', 1, 64, (count) => prompt({ messages: times(count, () => message) })],
  ['tools', 1, 32, (count) => prompt({ tools: times(count, tool) })],
  ['turns of a prompt', 1, 20, (maxTurns) => prompt({ tools: [tool(0)], maxTurns })],
  ['tokens of a prompt', 1, 131_072, (maxTokens) => prompt({ parameters: { maxTokens } })],
  ['milliseconds of an attempt', 1, 600_000, (timeoutMs) => prompt({}, { timeoutMs })],
  ['attempts', 1, 5, (maxAttempts) => prompt({}, { retry: { maxAttempts } })],
  [
    'milliseconds before another attempt',
    1,
    30_000,
    (backoffMs) => prompt({}, { retry: { maxAttempts: 2, backoffMs } }),
  ],
  ['results', 1, 100, (topK) => retrieval({ topK })],
  ['tokens of packed documents', 1, 200_000, (tokenBudget) => retrieval({ pack: { tokenBudget } })],
  [
    'levels of a schema',
    2,
    24,
    (levels) => flowText({ input: { type: 'object', properties: { a: deep(levels - 1) } } }),
  ],
  ['characters of a message', 1, 1_024, fail],
  ['characters of a description', undefined, 4_096, described],
  ['characters of a title', undefined, 128, titled],
  ['characters of a pattern', undefined, 4_096, pattern],
])('the number of %s is from %s to %i', (_, min, max, make) => {
  expect([min ?? max, max].map((amount) => isAccepted(make(amount)))).toEqual([true, true]);
  expect(isAccepted(make(max + 1))).toBe(false);
  if (min !== undefined && min !== 2) expect(isAccepted(make(min - 1))).toBe(false);
});

test('a parallel node with one branch is refused', () => {
  expect([isAccepted(parallel(2)), isAccepted(parallel(1))]).toEqual([true, false]);
});

verifies(['agents:version:flow-schema'], 'a flow source with another value of schema is refused', () => {
  expect(isAccepted(flowText())).toBe(true);
  for (const value of [
    'platform.low-code.flow/v1',
    'platform.low-code.flow/v3',
    'platform.low-code.flow',
    'v2',
    '""',
  ]) {
    expect(isAccepted(flowText().replace('platform.low-code.flow/v2', value))).toBe(false);
  }
});
