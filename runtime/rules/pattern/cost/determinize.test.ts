import { describe, expect, test } from 'vitest';
import { parsePattern } from '../syntax/parse-pattern.ts';
import { ENGINE_STATES } from '../testdata/engine-states.ts';
import { type ByteProgram, compileProgram, unanchored } from './byte-program.ts';
import { determinize, type SearchKind } from './determinize.ts';

function searchProgram(pattern: string): ByteProgram {
  const tree = parsePattern({ pattern, caseSensitive: true });
  const program = 'reason' in tree ? undefined : compileProgram(tree.node, false);
  if (program === undefined) throw new Error(pattern);
  return unanchored(program);
}

function sizes(pattern: string, kind: SearchKind): { states: number; classes: number } {
  const automaton = determinize(searchProgram(pattern), kind, ['text']);
  return { states: automaton?.states ?? 0, classes: automaton?.classCount ?? 0 };
}

describe('the automaton is the one that RE2 builds', () => {
  test.each(ENGINE_STATES)('the automaton for $pattern equals the one of RE2', ({ pattern, many, first }) => {
    for (const [kind, [states, classes]] of [['many', many] as const, ['first', first] as const]) {
      const ours = sizes(pattern, kind);
      expect(ours.states / states, `states of ${kind}`).toBeGreaterThan(0.85);
      expect(ours.states / states, `states of ${kind}`).toBeLessThan(1.35);
      expect(ours.classes, `classes of ${kind}`).toBeGreaterThanOrEqual(classes);
    }
  });
});

test('the analysis of an automaton with all overlaps of a gap stops at its bound', () => {
  expect(determinize(searchProgram('[b-z].{10,50}x1y'), 'many', ['text'])).toBeUndefined();
  expect(determinize(searchProgram('\\b(?:\\d[ -]?){13,19}\\b'), 'many', ['text'])).toBeUndefined();
});

test('the bound on transitions holds on both sides of its edge', () => {
  const program = searchProgram('abc');
  const { states, classes } = sizes('abc', 'many');
  expect(determinize(program, 'many', ['text'], states * classes)?.states).toBe(states);
  expect(determinize(program, 'many', ['text'], states * classes - 1)).toBeUndefined();
});

test('the analysis of a program that is too large stops while the program is built', () => {
  const tree = parsePattern({ pattern: '\\p{L}{100,200}Z', caseSensitive: true });
  expect('reason' in tree ? tree : compileProgram(tree.node, false)).toBeUndefined();
});
