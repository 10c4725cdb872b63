import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';
import { unifiedDiff } from './unified-diff.ts';

const side = (lines: ReturnType<typeof lineDiff>, without: 'added' | 'removed') =>
  lines.filter(({ kind }) => kind !== without).map(({ line }) => line);

describe('a difference of lines', () => {
  test('a line diff contains both texts', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ''), { maxLength: 40 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const found = lineDiff(before, after);
        expect(side(found, 'added')).toEqual(before);
        expect(side(found, 'removed')).toEqual(after);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the diff of a list with one more term is that term', () => {
    const terms = Array.from({ length: 20_000 }, (_, at) => `- term ${at}`);
    const more = terms.toSpliced(12_345, 0, '- new');
    expect(lineDiff(terms, more).filter(({ kind }) => kind !== 'kept')).toEqual([{ kind: 'added', line: '- new' }]);
    expect(lineDiff(more, terms).filter(({ kind }) => kind !== 'kept')).toEqual([{ kind: 'removed', line: '- new' }]);
  });

  test('the diff of lists that differ in every second term keeps the rest', () => {
    const terms = Array.from({ length: 20_000 }, (_, at) => `- term ${at}`);
    const other = terms.map((term, at) => (at % 2 === 0 ? term : `${term} new`));
    expect(lineDiff(terms, other).filter(({ kind }) => kind === 'kept')).toHaveLength(10_000);
  });

  test('the diff of large texts without a unique line replaces the whole text', () => {
    const before = Array.from({ length: 3_000 }, (_, at) => `x${at % 7}`);
    const after = Array.from({ length: 3_000 }, (_, at) => `x${(at * 3 + 1) % 7}`);
    const found = lineDiff(before, after);
    expect(side(found, 'added')).toEqual(before);
    expect(side(found, 'removed')).toEqual(after);
  });
});

describe('a unified difference', () => {
  const text = (...lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  const of = (before: string, after: string) => unifiedDiff({ label: 'a', text: before }, { label: 'b', text: after });

  test('the unified diff of equal texts is empty', () => expect(of('x\n', 'x\n')).toBe(''));

  test('a unified diff shows three lines around each change and joins near changes', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`);
    const after = before.with(4, 'five').with(11, 'twelve').toSpliced(25, 1);
    expect(of(text(...before), text(...after))).toBe(
      text(
        '--- a',
        '+++ b',
        '@@ -2,14 +2,14 @@',
        ' line 2',
        ' line 3',
        ' line 4',
        '-line 5',
        '+five',
        ' line 6',
        ' line 7',
        ' line 8',
        ' line 9',
        ' line 10',
        ' line 11',
        '-line 12',
        '+twelve',
        ' line 13',
        ' line 14',
        ' line 15',
        '@@ -23,7 +23,6 @@',
        ' line 23',
        ' line 24',
        ' line 25',
        '-line 26',
        ' line 27',
        ' line 28',
        ' line 29',
      ),
    );
  });

  test('a unified diff of an empty text starts at line 0', () => {
    expect(of('', text('a', 'b'))).toBe(text('--- a', '+++ b', '@@ -0,0 +1,2 @@', '+a', '+b'));
    expect(of(text('a'), '')).toBe(text('--- a', '+++ b', '@@ -1,1 +0,0 @@', '-a'));
  });
});
