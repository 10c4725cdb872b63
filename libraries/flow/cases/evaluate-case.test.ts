import { expect, test } from 'vitest';
import { loadFlow } from '../loader/load-flow.ts';
import { chainText } from '../testing/flow-text.ts';
import { scriptedPorts } from '../testing/scripted-ports.ts';
import { evaluateCase } from './evaluate-case.ts';
import { wordOverlap } from './word-overlap.ts';

const request = { context: {}, runId: 'r', traceId: '0'.repeat(32) };
const signal = new AbortController().signal;

test.each([
  ['Paris', 'paris.', 1],
  ['It is Paris', 'Paris', 0.5],
  ['Paris Paris', 'Paris', 2 / 3],
  ['Rome', 'Paris', 0],
  ['', 'Paris', 0],
  ['...', '!', 1],
])('the agreement of %j and %j is the F1 score of their words', (text, reference, score) => {
  expect(wordOverlap(text, reference)).toBeCloseTo(score, 10);
});

test.each([
  ['{"score": 0.25}', 0.25, ['the judge m gave 0.25']],
  ['{"score": 1}', 1, []],
  ['{"score": 0}', 0, ['the judge m gave 0.00']],
  ['{"score": 1.01}', 0, ['the judge m gave no score']],
  ['{"score": -0.01}', 0, ['the judge m gave no score']],
  ['good', 0, ['the judge m gave no score']],
])('the answer %s of the judging model yields the score %d', async (text, score, problems) => {
  const load = loadFlow(chainText([{ id: 'a', kind: 'template', config: { text: 'Hello {{input.question}}' } }]));
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  const seen: unknown[] = [];
  const { ports } = scriptedPorts({
    model: async (asked: unknown) => {
      seen.push(asked);
      return { text, usage: { promptTokens: 0, completionTokens: 0 } };
    },
  });
  const judged = { name: 'a case', input: { question: 'Ann' }, judge: { model: 'm', criteria: 'It is polite.' } };
  const end = await evaluateCase(load.flow, judged, { ports, request, signal });
  expect(end).toMatchObject({ name: 'a case', score, problems });
  expect(JSON.stringify(seen)).toContain('It is polite.');
});
