import { describe, expect, test } from 'vitest';
import { longWalk, seeded } from '../testing/long-walk.ts';
import { prepare } from '../testing/prepare-pattern.ts';
import { coverTransitions } from './cover-transitions.ts';
import type { Automaton, StartContext } from './determinize.ts';

const STARTS: Readonly<Record<number, StartContext>> = { 10: 'line', 97: 'word', 32: 'other' };

/** The transitions of the automaton that a text takes from a given position. */
function edgesOf({ next, classOf, classCount, starts }: Automaton, text: Buffer, from: number): number[] {
  const edges: number[] = [];
  let state = starts[from === 0 ? 'text' : (STARTS[text[from - 1] ?? 0] ?? 'other')];
  for (const byte of text.subarray(from)) {
    if (state < 0) break;
    const edge = state * classCount + (classOf[byte] ?? 0);
    edges.push(edge);
    state = next[edge] ?? -1;
  }
  return edges;
}

describe('texts that build an automaton ahead', () => {
  test.each(['[a-z]+@[a-zé]{2,}', '\\bжук.{0,3}x', 'AKIA[0-9A-Z]{6}'])(
    'for %s, no text of valid UTF-8 takes a transition that the covering texts do not take',
    (pattern) => {
      const automaton = prepare(pattern).analysis.firing.set();
      if (automaton === undefined) throw new Error('too large');
      const covered = new Set<number>();
      coverTransitions(automaton, (text, from) => {
        for (const edge of edgesOf(automaton, text, from)) covered.add(edge);
      });
      for (const restart of [0, 4, 30]) {
        const walk = longWalk(automaton, 3_000, restart, seeded(restart));
        expect(edgesOf(automaton, walk, 0).filter((edge) => !covered.has(edge))).toEqual([]);
      }
    },
  );

  test('the texts that build an automaton ahead begin in every context of a probe', () => {
    const automaton = prepare('(?m)^ab.{0,9}c|\\bxy.{0,9}z').analysis.firing.probe()?.automaton;
    if (automaton === undefined) throw new Error('no plan');
    const before = new Set<number | undefined>();
    coverTransitions(automaton, (text, from) => before.add(text[from - 1]));
    expect(before).toContain(undefined);
    expect(before).toContain(0x0a);
    expect(before).toContain(0x20);
  });
});
