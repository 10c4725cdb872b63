import { describe, expect, test } from 'vitest';
import { checkedText } from '../../checked-text.ts';
import { compileGroup } from '../search/compile-group.ts';
import { ADMITTED_PATTERNS } from '../testdata/admitted-patterns.ts';
import { REFUSED_PATTERNS } from '../testdata/refused-patterns.ts';
import { prepare } from '../testing/prepare-pattern.ts';
import { groupPatterns } from './group-patterns.ts';
import { firingCostMs, spansCostMs, termListCostMs } from './pattern-cost.ts';
import { workedOut } from './pattern-figures.ts';

/**
 * Values of the contract's example: maxBodyBytes 32768, timeoutMs 20, maxMatches 256. The budgets are a quarter of 20
 * ms, and 25 ms.
 */
const BYTES = 32_768;
const BUDGET = { timeoutMs20: 5, timeoutMs5000: 25 } as const;
const LIMIT = 257;

describe('rules as policies have them', () => {
  test.each(ADMITTED_PATTERNS)(
    'the pattern $name is admitted and works',
    ({ pattern, caseSensitive, masks, sample }) => {
      const compiled = prepare(pattern, caseSensitive);
      expect(firingCostMs([compiled.analysis], BYTES)).toBeLessThanOrEqual(BUDGET.timeoutMs20);
      if (masks) expect(spansCostMs(compiled.analysis, BYTES, LIMIT)).toBeLessThanOrEqual(BUDGET.timeoutMs20);
      if (masks) expect(compiled.shape.canMatchEmpty).toBe(false);
      const bytes = Buffer.from(`${sample} and more`);
      expect(compiled.test(bytes)).toBe(true);
      expect(compiled.matches(bytes, 1)).toHaveLength(1);
      expect(compiled.test(Buffer.from('no match in this text'))).toBe(false);
    },
  );

  test('the whole pack runs in groups that keep half of the stage budget of 250 ms', () => {
    const patterns = ADMITTED_PATTERNS.map(({ pattern, caseSensitive }) => prepare(pattern, caseSensitive));
    const { groups, refused } = groupPatterns(
      patterns.map(({ analysis }) => analysis),
      { maxBytes: BYTES, budgetMs: BUDGET.timeoutMs20 },
      workedOut,
    );
    expect(refused).toEqual([]);
    expect(groups.flatMap(({ members }) => members).toSorted((a, b) => a - b)).toEqual([...patterns.keys()]);
    expect(groups.reduce((sum, { costMs }) => sum + costMs, 0)).toBeLessThan(125);
    expect(groups.length).toBeLessThan(patterns.length);
  });
});

describe('patterns that the engine is slow on', () => {
  test.each(REFUSED_PATTERNS)('the pattern $pattern is refused, and was measured to be slow', (row) => {
    const cost = firingCostMs([prepare(row.pattern, row.caseSensitive).analysis], BYTES);
    expect(cost).toBeGreaterThan(BUDGET.timeoutMs20);
    expect(cost).toBeGreaterThan(BUDGET.timeoutMs5000);
    expect(Math.max(row.measuredMs.set, row.measuredMs.alone)).toBeGreaterThan(BUDGET.timeoutMs20);
  });

  test('a pattern that grouping refuses is named with its estimate and is in no group', () => {
    const analyses = ['abc', '[b-z].{10,50}x1y', 'abd'].map((pattern) => prepare(pattern).analysis);
    const { groups, refused } = groupPatterns(analyses, { maxBytes: BYTES, budgetMs: BUDGET.timeoutMs5000 }, workedOut);
    expect(refused.map(({ member }) => member)).toEqual([1]);
    expect(refused[0]?.costMs).toBeGreaterThan(25);
    expect(groups.map(({ members }) => members)).toEqual([[0, 2]]);
  });
});

describe('bounded gaps', () => {
  const gaps = Array.from({ length: 40 }, (_, index) => prepare(`ignore.{0,60}system${index}x`));

  test('forty patterns with a bounded gap do not fit into one set, and fit into separate groups', () => {
    const analyses = gaps.map(({ analysis }) => analysis);
    expect(firingCostMs(analyses, BYTES)).toBe(Number.POSITIVE_INFINITY);
    const { groups, refused } = groupPatterns(analyses, { maxBytes: BYTES, budgetMs: BUDGET.timeoutMs20 }, workedOut);
    expect(refused).toEqual([]);
    expect(groups.map(({ members }) => members)).toEqual(gaps.map((_, index) => [index]));
    expect(groups.reduce((sum, { costMs }) => sum + costMs, 0)).toBeLessThan(125);
  });

  test('a probe finds the same matches as a search', () => {
    const [gap] = gaps;
    if (gap === undefined) throw new Error('no gap');
    expect(gap.analysis.firing.figures().plan).toBe('probe');
    const text = (between: string) => Buffer.from(`ignore ignore ${between}system0x ignore`);
    expect(gap.test(text('a'.repeat(59)))).toBe(true);
    expect(gap.test(text('a'.repeat(60)))).toBe(false);
    expect(gap.test(text('ж'.repeat(59)))).toBe(true);
    expect(gap.test(text('a\na'))).toBe(false);
    const bytes = text('abc ');
    expect(gap.matches(bytes, 9)).toEqual([{ start: 0, end: bytes.indexOf(' ignore', 14) }]);
  });
});

describe('costs are structural', () => {
  test('an estimate is the same in every call and grows with the text', () => {
    const analysis = prepare('\\b(?:\\d[ -]?){13,19}\\b').analysis;
    const again = prepare('\\b(?:\\d[ -]?){13,19}\\b').analysis;
    expect(firingCostMs([analysis], BYTES)).toBe(firingCostMs([again], BYTES));
    expect(firingCostMs([analysis], 131_072)).toBeGreaterThan(3 * firingCostMs([analysis], BYTES));
    expect(firingCostMs([], BYTES)).toBe(0);
  });

  test('the cost of listing includes that a greedy end can make the engine read the rest again for every match', () => {
    const harmless = spansCostMs(prepare('x\\w*').analysis, BYTES, LIMIT);
    const harmful = spansCostMs(prepare('x(?:.*y)?').analysis, BYTES, LIMIT);
    expect(harmful).toBeGreaterThan(10 * harmless);
    expect(harmful).toBeGreaterThan(BUDGET.timeoutMs20);
  });

  test('the estimate of a term list is proportional to the bytes of the text', () => {
    expect(termListCostMs(BYTES)).toBeLessThanOrEqual(BUDGET.timeoutMs20);
    expect(termListCostMs(2 * BYTES)).toBe(2 * termListCostMs(BYTES));
  });
});

describe('a group', () => {
  test('a group of patterns returns its matching members, whatever their case mode and matching plan', () => {
    const members = [prepare('foo'), prepare('BAR', false), prepare('\\d{3}$'), prepare('ba[rz]+')];
    const group = compileGroup(members);
    if ('reason' in group) throw new Error(group.reason);
    expect(group.firing(checkedText(Buffer.from('foo bar 12')))).toEqual([0, 1, 3]);
    expect(group.firing(checkedText(Buffer.from('FOO Bar 123')))).toEqual([1, 2]);
    expect(group.firing(checkedText(Buffer.alloc(0)))).toEqual([]);
    const none = compileGroup([]);
    expect('reason' in none ? none : none.firing(checkedText(Buffer.from('x')))).toEqual([]);
  });
});
