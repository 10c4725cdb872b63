import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../compile-pattern.ts';
import { matchableText, patternText } from '../testing/pattern-arbitrary.ts';
import { prepare } from '../testing/prepare-pattern.ts';
import { nextPlace, type ProbePlan } from './probe-plan.ts';

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
  ])('%s', (pattern, distance) => {
    expect(planOf(pattern).distance).toBe(distance);
  });

  test('no two places of any text are closer', () => {
    for (const pattern of ['abab.{0,9}c', '\\b\\d.{0,2}x', 'ba.a.{0,9}c', '(?i)ka.{0,3}s']) {
      const plan = planOf(pattern);
      fc.assert(
        fc.property(fc.array(fc.constantFrom('a', 'b', 'ba', '1', 'x', ' ', 'K', 'c'), { maxLength: 30 }), (parts) => {
          const found = places(plan, parts.join(''));
          for (const [index, place] of found.entries()) {
            expect(place - (found[index - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(plan.distance);
          }
        }),
        { numRuns: 200 },
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
  ])('%s keeps at most %d probes reading', (pattern, most) => {
    expect(planOf(pattern).overlap).toBeLessThanOrEqual(most);
  });

  test.each([
    ['ignore.{0,60}system7', 12, 13],
    ['\\b(?:\\d[ -]?){13,19}\\b', 19, 21],
  ])('%s keeps %d to %d probes reading', (pattern, least, most) => {
    expect(planOf(pattern).overlap).toBeGreaterThanOrEqual(least);
    expect(planOf(pattern).overlap).toBeLessThanOrEqual(most);
  });

  test('a gap without end keeps any number reading', () => {
    expect(planOf('ab.*c').overlap).toBe(Number.POSITIVE_INFINITY);
  });
});

test('every match begins at a place', () => {
  fc.assert(
    fc.property(patternText, fc.boolean(), matchableText, (pattern, caseSensitive, text) => {
      const compiled = compilePattern({ pattern, caseSensitive });
      const plan = 'reason' in compiled ? undefined : compiled.analysis.listing.probe();
      if ('reason' in compiled || plan === undefined) return;
      const found = places(plan, text);
      for (const { start } of compiled.matches(Buffer.from(text), 20)) expect(found).toContain(start);
    }),
    { numRuns: 1_000 },
  );
});

test('a pattern that can match empty has no plan', () => {
  expect(prepare('a*').analysis.listing.probe()).toBeUndefined();
});
