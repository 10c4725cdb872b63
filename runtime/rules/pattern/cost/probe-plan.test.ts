import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../search/compile-pattern.ts';
import { matchableText, patternText } from '../testing/pattern-arbitrary.ts';
import { prepare } from '../testing/prepare-pattern.ts';
import { overlapWithRejected } from './probe-overlap.ts';
import { CONTEXT_AFTER, startStates } from './probe-places.ts';
import { endsWithin, nextPlace, type ProbePlan } from './probe-plan.ts';

function planOf(pattern: string, caseSensitive = true): ProbePlan {
  const plan = prepare(pattern, caseSensitive).analysis.listing.probe();
  if (plan === undefined) throw new Error(`${pattern} has no plan`);
  return plan;
}

function places(plan: ProbePlan, text: string): number[] {
  const bytes = Buffer.from(text);
  const found: number[] = [];
  for (let at = nextPlace(plan, bytes, 0); at >= 0; at = nextPlace(plan, bytes, at + 1)) found.push(at);
  return found;
}

type MatchAt = (bytes: Buffer, from: number) => number;

/**
 * The largest number of probes that actually read one byte while matches are listed.
 * @param accepts whether a match counts; the search continues inside of a match that does not
 */
function mostReading(plan: ProbePlan, bytes: Buffer, matchAt: MatchAt, accepts = (_length: number) => true): number {
  const { next, classOf, classCount } = plan.automaton;
  const starts = startStates(plan.automaton);
  const readers = new Int32Array(bytes.length + 1);
  for (let at = nextPlace(plan, bytes, 0); at >= 0; ) {
    let state = starts[at > 0 ? (CONTEXT_AFTER[bytes[at - 1] ?? 0] ?? 0) : 0] ?? -1;
    for (let read = at; read < bytes.length && state >= 0; read += 1) {
      readers[read] = (readers[read] ?? 0) + 1;
      state = next[state * classCount + (classOf[bytes[read] ?? 0] ?? 0)] ?? -1;
    }
    const end = matchAt(bytes, at);
    at = nextPlace(plan, bytes, end >= 0 && accepts(end - at) ? end : at + 1);
  }
  return Math.max(...readers);
}

describe('distances', () => {
  test.each([
    ['ignore.{0,60}system7', 6],
    ['aaa.{0,9}b', 1],
    ['abab.{0,9}c', 2],
    ['\\b\\d.{0,9}x', 2],
    ['\\d.{0,9}x', 1],
    ['(?:show|print).{0,30}prompt', 4],
    ['^abc', Number.POSITIVE_INFINITY],
    ['(?m)^abc', 4],
    ['жук.{0,9}x', 6],
  ])('the minimum distance of probes is correct for %s', (pattern, distance) => {
    expect(planOf(pattern).distance).toBe(distance);
  });

  test('no two probe places of any text are closer than the minimum distance', () => {
    for (const pattern of ['abab.{0,9}c', '\\b\\d.{0,2}x', 'ba.a.{0,9}c', '(?i)ka.{0,3}s']) {
      const plan = planOf(pattern);
      fc.assert(
        fc.property(fc.array(fc.constantFrom('a', 'b', 'ba', '1', 'x', ' ', 'K', 'c'), { maxLength: 30 }), (parts) => {
          const found = places(plan, parts.join(''));
          for (const [index, place] of found.entries()) {
            expect(place - (found[index - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(plan.distance);
          }
        }),
        { numRuns: 80 },
      );
    }
  });
});

describe('overlaps', () => {
  test.each([
    ['abc', 3],
    ['ab.{0,10}c', 9],
    ['ab\\s+.{0,10}c', 9],
    ['ab.{0,10}x\\s+c', 9],
    ['ab[^a]*c', 4],
  ])('the pattern %s has at most %d overlapping probes', (pattern, most) => {
    expect(planOf(pattern).overlap).toBeLessThanOrEqual(most);
  });

  test.each([
    ['ignore.{0,60}system7', 12, 13],
    ['\\b(?:\\d[ -]?){13,19}\\b', 8, 16],
    ['\\bsk-[A-Za-z0-9_-]{20,}', 2, 8],
  ])('the pattern %s has %d to %d overlapping probes', (pattern, least, most) => {
    expect(planOf(pattern).overlap).toBeGreaterThanOrEqual(least);
    expect(planOf(pattern).overlap).toBeLessThanOrEqual(most);
  });

  test.each(['ab.*c', 'ab(?:.*c)?'])(
    'the pattern %s, with an unbounded gap, can have any number of overlapping probes',
    (pattern) => {
      expect(planOf(pattern).overlap).toBe(Number.POSITIVE_INFINITY);
    },
  );

  test.each([
    ['\\b(?:\\d[ -]?){13,19}\\b', ['1 ', '1-', '1', 'x', '1 1 1 1 1 1 ', '1 1 1 1 1 1 1 1 1 1 1 1 x']],
    ['\\bsk-[A-Za-z0-9_-]{20,}', ['sk-', ' ', 'a', 'sk-sk-sk-', 'sk-sk-sk-sk-sk-sk-']],
    ['ab(?:x.{0,10}y)?', ['ab', 'x', 'y', 'abx', '.']],
    ['ab.{0,10}c', ['ab', 'c', '.', 'ababab']],
    ['ignore.{0,60}system7', ['ignore', 'ignoreignore', 'system7', 'a']],
  ])('no text has more overlapping probes of %s than estimated', (pattern, parts) => {
    const compiled = prepare(pattern);
    const plan = planOf(pattern);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 60 }), (chosen) => {
        const bytes = Buffer.from(chosen.join(''));
        expect(mostReading(plan, bytes, compiled.engine.matchAt)).toBeLessThanOrEqual(plan.overlap);
      }),
      { numRuns: 120 },
    );
  });
});

const card = '\\b\\d(?:[ -]?\\d){12,18}\\b';

test.each([
  [card, ['1 ', '1-', '1', 'x', '1 1 1 1 1 1 ', '1 '.repeat(19)]],
  ['\\bsk-[A-Za-z0-9_-]{20,}', ['sk-', ' ', 'a', 'sk-sk-sk-', 'sk-sk-sk-sk-sk-sk-']],
  ['ab(?:x.{0,10}y)?', ['ab', 'x', 'y', 'abx', '.', 'abxaby']],
  ['ab.{0,10}c', ['ab', 'c', '.', 'ababab', 'abc']],
])(
  'no text has more overlapping probes of %s than estimated where matches up to a length do not count',
  (pattern, parts) => {
    const { engine, shape } = prepare(pattern);
    const plan = planOf(pattern);
    const texts = fc.array(fc.constantFrom(...parts), { maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 60 }), (chosen, longestRejected) => {
        const bytes = Buffer.from(chosen.join(''));
        const most = overlapWithRejected(plan, { longest: shape.maxBytes, longestRejected });
        const reading = mostReading(plan, bytes, engine.matchAt, (length) => length > longestRejected);
        expect(reading).toBeLessThanOrEqual(most);
      }),
      { numRuns: 200 },
    );
  },
);

test.each<[string, string, readonly number[]]>([
  [card, '4111 1111 1111 1111 123', [19, 23]],
  [card, '4111111111111111 12/27', [16, 19]],
  ['\\d{2,4}', '12345', [2, 3, 4]],
  ['\\d{2,4}?', '12345', [2]],
  ['abc|ab', 'abc', [2, 3]],
  ['ab|abc', 'abc', [2]],
  ['ж{1,3}', 'жжжж', [2, 4, 6]],
])(
  'the ends at which %s can stop in %s are listed, and none that it prefers less than the end of the match',
  (pattern, text, ends) => {
    const bytes = Buffer.from(text);
    const end = prepare(pattern).engine.matchAt(bytes, 0);
    expect(endsWithin(planOf(pattern), bytes, { start: 0, end })).toEqual(ends);
  },
);

test('every match of a pattern begins at a place that its probe plan finds', () => {
  fc.assert(
    fc.property(patternText, fc.boolean(), matchableText, (pattern, caseSensitive, text) => {
      const compiled = compilePattern({ pattern, caseSensitive });
      const plan = 'reason' in compiled ? undefined : compiled.analysis.listing.probe();
      if ('reason' in compiled || plan === undefined) return;
      const found = places(plan, text);
      for (const { start } of compiled.matches(Buffer.from(text), 20)) expect(found).toContain(start);
    }),
    { numRuns: 400 },
  );
});

test('a pattern that can match the empty text has no probe plan', () => {
  expect(prepare('a*').analysis.listing.probe()).toBeUndefined();
});
