import { expect, test } from 'vitest';
import { flowLimits } from '#contracts/flow-limits';
import { loadTests } from '../cases/load-tests.ts';
import { chainText, flowId, flowText } from '../testing/flow-text.ts';
import { fileUses } from './file-uses.ts';
import { flowRequirements } from './flow-requirements.ts';
import { flowDigest } from './load-flow.ts';
import { loadVersionFlow, usedSubflows } from './load-version-flow.ts';

const leaf = flowText();
const pinned = (text: string, id = 'sub') => ({
  id,
  kind: 'subflow',
  inputs: { question: 'x' },
  config: { flowId, sha256: flowDigest(text) ?? '', entrypoint: 'main' },
});
/** A flow that runs each of these flows. */
const around = (...texts: readonly string[]) => chainText(texts.map((text, at) => pinned(text, `sub${at}`)));
const problemsOf = (flow: string, subflows?: readonly string[]) => {
  const load = loadVersionFlow(flow, subflows);
  return load.ok ? [] : load.problems.map(({ path, message }) => `${path} ${message}`);
};

test('the flow of a version loads with all flows that it runs, whatever their order', () => {
  const middle = around(leaf);
  const flow = around(middle, leaf);
  for (const subflows of [
    [leaf, middle],
    [middle, leaf],
  ]) {
    const load = loadVersionFlow(flow, subflows);
    expect(load.ok && usedSubflows(load.flow)).toEqual(new Set([flowDigest(leaf), flowDigest(middle)]));
  }
  expect(problemsOf(flow, [leaf])).toEqual(['nodes[1].config.sha256 names no flow that was given with this one']);
  expect(problemsOf(flow, [middle])[0]).toContain('names a flow that has problems: line 8, nodes[1].config');
});

test('a version contains no text that is not a flow, occurs twice, or is not used', () => {
  expect(problemsOf(leaf)).toEqual([]);
  expect(problemsOf(leaf, [leaf])).toEqual(['subflows[0] is not used by the flow']);
  expect(problemsOf(around(leaf), [leaf, leaf])).toEqual(['subflows[1] is an earlier one again']);
  expect(problemsOf(around(leaf), [leaf, 'text'])).toEqual(['subflows[1] is not a flow']);
});

/** Flows, each of which runs the previous flow twice. */
function doubled(levels: number): readonly string[] {
  const texts = [leaf];
  while (texts.length < levels) texts.push(around(texts.at(-1) ?? '', texts.at(-1) ?? ''));
  return texts;
}

test('subflows are nested up to the limit, and many nodes that name one do not slow down loading', () => {
  const most = doubled(flowLimits.nesting);
  expect(problemsOf(most.at(-1) ?? '', most.slice(0, -1))).toEqual([]);
  const more = doubled(flowLimits.nesting + 1);
  expect(problemsOf(more.at(-1) ?? '', more.slice(0, -1))[0]).toContain('names a flow that has problems');
});

test('what a flow needs is found by one visit of each subflow, however many nodes name it', () => {
  const inputs = { query: 'x' };
  const find = { id: 'find', kind: 'retrieval', inputs, config: { collection: 'handbook' } };
  const read = { id: 'read', kind: 'file', inputs: { fileId: 'file-1' }, config: { use: 'text' } };
  const texts = [chainText([find, read])];
  // Visits of each node of each subflow would be 100 to the power of 7.
  while (texts.length < flowLimits.nesting) {
    const one = pinned(texts.at(-1) ?? '');
    texts.push(chainText(Array.from({ length: 100 }, (_, at) => ({ ...one, id: `sub${at}` }))));
  }
  const load = loadVersionFlow(texts.at(-1) ?? '', texts.slice(0, -1));
  if (!load.ok) throw new Error('the flow was refused');
  expect(flowRequirements(load.flow)).toEqual([{ kind: 'collection', name: 'handbook' }]);
  expect([...fileUses(load.flow)]).toEqual(['text']);
  const answers = { sub1: [], find: { items: [] }, read: { text: 'b' } };
  const tests = [{ name: 'one', input: {}, answers, expect: { runs: ['sub1'] } }];
  const text = JSON.stringify({ apiVersion: 'platform.low-code.flow-tests/v1', tests });
  expect(loadTests(text, load.flow)).toMatchObject({
    problems: [{ path: 'tests[0].answers.sub1', message: 'names no node that calls anything' }],
  });
});

test('the loops around a subflow count towards the depth of its loops', () => {
  const loop = (id: string, body: string) => ({
    id,
    kind: 'loop',
    inputs: { items: [1] },
    config: { body, maxIterations: 2 },
  });
  /** A flow with this number of loops inside of each other around a node. */
  const loops = (count: number, last: object) => {
    const inner = Array.from({ length: count - 1 }, (_, at) =>
      loop(`l${at + 1}`, at + 2 < count ? `l${at + 2}` : 'last'),
    );
    const nodes = [...inner, { ...last, id: 'last' }];
    return chainText([loop('l0', count > 1 ? 'l1' : 'last')], { nodes });
  };
  const plain = { kind: 'template', config: { text: 'a' } };
  const nested = (outer: number, inner: number) => {
    const text = loops(inner, plain);
    return problemsOf(loops(outer, pinned(text)), [text]);
  };
  expect(nested(3, 3)).toEqual([]);
  expect(nested(3, 4)[0]).toContain('is nested deeper than 8 levels');
  expect(nested(4, 3)[0]).toContain('is nested deeper than 8 levels');
});
