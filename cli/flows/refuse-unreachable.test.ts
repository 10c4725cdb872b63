import { expect, test } from 'vitest';
import { flowDigest, loadFlow } from '#flow/loader/load-flow';
import { chainText, flowId, flowText } from '#flow/testing/flow-text';
import { CliError } from '../errors/cli-error.ts';
import { refuseUnreachable } from './refuse-unreachable.ts';

const get = (id: string, more: object = {}) => {
  return { id, kind: 'tool_http', config: { connection: `c-${id}`, method: 'GET', path: '/' }, ...more };
};
const words = { id: 'words', kind: 'template', config: { text: 'x' } };

/** The nodes that a refusal names, where everything but `reachable` cannot be called. */
function namedBy(
  text: string,
  entrypoints: readonly string[] = ['main'],
  subflow = '',
  reachable = '',
): readonly string[] {
  const load = loadFlow(text, { subflows: () => subflow });
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  try {
    refuseUnreachable(load.flow, entrypoints, ({ name }) => (name === reachable ? undefined : 'Publish it.'), {});
    return [];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    expect(error.message.split('Publish it.')).toHaveLength(2);
    return [...error.message.matchAll(/([\w/]+) needs the connection/g)].map(([, node = '']) => node);
  }
}

test('a run is refused for nodes in every place that it can reach: cases, branches, bodies, ways after errors and subflows', () => {
  const isX = { eq: [`\${input.question}`, 'x'] };
  const pick = { id: 'pick', kind: 'condition', config: { cases: [{ name: 'x', when: isX }], default: 'y' } };
  const cased = flowText({
    nodes: [pick, get('one'), get('two')],
    edges: [
      ['start', 'pick'],
      ['pick', 'one', 'x'],
      ['pick', 'two', 'y'],
      ['one', 'end'],
      ['two', 'end'],
    ],
  });
  expect(namedBy(cased)).toEqual(['one', 'two']);
  expect(namedBy(cased, ['main'], '', 'c-one')).toEqual(['two']);
  const both = { id: 'both', kind: 'parallel', config: { branches: ['one', 'two'] } };
  expect(namedBy(chainText([both], { nodes: [get('one'), get('two')] }))).toEqual(['one', 'two']);
  const each = { id: 'each', kind: 'loop', inputs: { items: [1] }, config: { body: 'one', maxIterations: 2 } };
  expect(namedBy(chainText([each], { nodes: [get('one')] }))).toEqual(['one']);
  const failing = { ...words, onError: { goto: 'one' } };
  const after = flowText({
    nodes: [failing, get('one')],
    edges: [
      ['start', 'words'],
      ['words', 'end'],
      ['one', 'end'],
    ],
  });
  expect(namedBy(after)).toEqual(['one']);
  const inner = chainText([get('one')]);
  const config = { flowId, sha256: flowDigest(inner) ?? '', entrypoint: 'main' };
  const sub = { id: 'sub', kind: 'subflow', inputs: { question: 'x' }, config };
  expect(namedBy(chainText([sub, { ...sub, id: 'again' }]), ['main'], inner)).toEqual(['sub/one']);
});

test('a run is not refused for nodes that its entry point does not reach, or that need no service', () => {
  expect(namedBy(chainText([words]))).toEqual([]);
  const text = flowText({
    entrypoints: { main: 'start', other: 'begin' },
    nodes: [words, { id: 'begin', kind: 'input' }, get('one')],
    edges: [
      ['start', 'words'],
      ['words', 'end'],
      ['begin', 'one'],
      ['one', 'end'],
    ],
  });
  expect(namedBy(text, ['main'])).toEqual([]);
  expect(namedBy(text, ['other'])).toEqual(['one']);
  expect(namedBy(text, ['main', 'other'])).toEqual(['one']);
});

test('a run is refused if the model of a judge cannot be reached, and is not refused if it can be reached', () => {
  const load = loadFlow(chainText([words]));
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  const { flow } = load;
  const judge = { caller: 'the judge of the case "a"', needs: { kind: 'model', name: 'm' } } as const;
  const refuse = (remedy: string | undefined) => () => refuseUnreachable(flow, ['main'], () => remedy, {}, [judge]);
  expect(refuse(undefined)).not.toThrow();
  expect(refuse('Name it.')).toThrow('the judge of the case "a" needs the model m. Name it.');
});
