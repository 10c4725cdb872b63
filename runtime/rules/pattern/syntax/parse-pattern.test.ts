import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import RE2 from 're2';
import { describe, expect, test } from 'vitest';
import { workedOut } from '../cost/pattern-figures.ts';
import { compilePattern } from '../search/compile-pattern.ts';
import { matchableText, patternText } from '../testing/pattern-arbitrary.ts';
import { parsePattern } from './parse-pattern.ts';

type Recorded = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly texts: readonly string[];
  readonly accepted: boolean;
  readonly first: readonly (readonly [number, number] | null)[];
};

const recorded: readonly Recorded[] = readFileSync(new URL('../testdata/google-re2.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('against the recorded results of google-re2 1.1.20251105', () => {
  test.each(['prepared', 'direct'] as const)(
    'matching %s accepts or refuses every recorded pattern alike and finds the same first match',
    (kind) => {
      const differences: string[] = [];
      for (const { pattern, caseSensitive, texts, accepted, first } of recorded) {
        const compiled = compilePattern({ pattern, caseSensitive }, { kind, figures: workedOut });
        const refused = 'reason' in compiled;
        if (refused === accepted) differences.push(`${pattern}: accepted ${accepted}`);
        if (refused || !accepted) continue;
        for (const [index, text] of texts.entries()) {
          const [span] = compiled.matches(Buffer.from(text), 1);
          const ours = span === undefined ? null : [span.start, span.end];
          if (JSON.stringify(ours) !== JSON.stringify(first[index])) differences.push(`${pattern} on ${text}: ${ours}`);
          if (compiled.test(Buffer.from(text)) !== (ours !== null)) differences.push(`${pattern} fires otherwise`);
        }
      }
      expect(differences).toEqual([]);
    },
  );

  test('the record of google-re2 contains enough refusals, acceptances and matches', () => {
    const accepted = recorded.filter((row) => row.accepted);
    const matches = accepted.flatMap((row) => row.first);
    expect(accepted.length).toBeGreaterThan(200);
    expect(recorded.length - accepted.length).toBeGreaterThan(200);
    expect(matches.filter((match) => match !== null).length / matches.length).toBeGreaterThan(0.3);
  });
});

describe('against the engine itself', () => {
  /** The engine's own verdict on the unchanged pattern; undefined when npm re2 would rewrite it. */
  function engineVerdict(pattern: string, caseSensitive: boolean): RE2 | false | undefined {
    try {
      const compiled = new RE2(Buffer.from(pattern), caseSensitive ? 'u' : 'iu');
      return compiled.internalSource === pattern ? compiled : undefined;
    } catch (error) {
      const rewritten = /\\[ucpP]|\(\?<|\//.test(pattern) || String(error).includes('duplicate capture group');
      return rewritten ? undefined : false;
    }
  }

  test('generated patterns get the same verdict and the same first match', () => {
    let compared = 0;
    fc.assert(
      fc.property(patternText, fc.boolean(), matchableText, (pattern, caseSensitive, text) => {
        const verdict = engineVerdict(pattern, caseSensitive);
        if (verdict === undefined) return;
        compared += 1;
        const compiled = compilePattern({ pattern, caseSensitive });
        expect('reason' in compiled).toBe(verdict === false);
        if (verdict === false || 'reason' in compiled || pattern.includes('\\B')) return;
        const bytes = Buffer.from(text);
        const found = verdict.exec(bytes);
        const [span] = compiled.matches(bytes, 1);
        expect(span).toEqual(found === null ? undefined : { start: found.index, end: found.index + found[0].length });
        expect(compiled.test(bytes)).toBe(found !== null);
      }),
      { numRuns: 600 },
    );
    expect(compared).toBeGreaterThan(200);
  });

  test('npm re2 never rewrites the source that it gets', () => {
    fc.assert(
      fc.property(patternText, (pattern) => {
        const tree = parsePattern({ pattern, caseSensitive: true });
        if ('reason' in tree || tree.engineSource === '') return;
        let reached: string | undefined;
        try {
          reached = new RE2(Buffer.from(tree.engineSource), 'u').internalSource;
        } catch {
          return;
        }
        expect(reached).toBe(tree.engineSource);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('refusals name the remedy', () => {
  test.each([
    ['(?=a)', 'lookaround: match the text around it, too, or use an external detector'],
    ['a(?!b)', 'lookaround'],
    ['(?<=a)b', 'lookaround'],
    ['(?<!a)b', 'lookaround'],
    ['(a)\\1', 'back-references are not supported: write out the alternatives'],
    ['\\u0041', '\\x{…}'],
    ['\\cA', '\\x{…}'],
    ['a\\Z', '\\z'],
    ['\\p{Script=Greek}', 'scripts such as'],
    ['\\p{Letter}', 'general categories'],
    ['\\p{Emoji}', 'unknown Unicode class'],
    ['a{1001}', 'at most 1000'],
    ['(?:a{40}){26}', 'lower one of the numbers'],
    ['a**', 'repeats a repeat'],
    ['a+*', 'repeats a repeat'],
    ['*a', 'nothing before * to repeat: write \\ before it to match'],
    ['a|*', 'nothing before'],
    ['(a', 'never closed: close it, or write \\('],
    ['a)', 'closes nothing: remove it, or write \\)'],
    ['[a', 'missing ] after [a: close the class, or write \\['],
    ['[z-a]', 'ends before it begins: exchange its ends'],
    ['[[:foo:]]', 'write one such as [:alpha:]'],
    ['(?x)a', 'flags i, m, s, U'],
    ['(?P<a b>c)', 'use letters, digits and _'],
    ['(?P<a', 'end the name of the group with it'],
    ['\\y', 'remove the backslash'],
    ['\\p{Greek', 'missing } after'],
    ['a\\', 'single backslash'],
    ['a\ud800', 'surrogate'],
  ])('a refused pattern has a remedy in its message: %s', (pattern, hint) => {
    const tree = parsePattern({ pattern, caseSensitive: true });
    expect('reason' in tree ? tree.reason : 'accepted').toContain(hint);
  });

  test('a pattern that is too large for the engine is refused', () => {
    const compiled = compilePattern({ pattern: '(?:\\pL{100}\\pN{100}){9}', caseSensitive: false });
    expect('reason' in compiled ? compiled.reason : 'accepted').toContain('too large');
  });

  test('a thousand nested groups are parsed, printed and compiled', () => {
    const pattern = `${'(?:a|'.repeat(1_000)}b${')*'.repeat(1_000)}`;
    const compiled = compilePattern({ pattern, caseSensitive: true });
    expect('reason' in compiled).toBe(false);
  });
});

describe('accepted on both sides of each edge', () => {
  test.each([
    ['a{1000}', true],
    ['a{1001}', false],
    ['(?:a{40}){25}', true],
    ['(?:a{40}){26}', false],
    ['(?:a{500}){1}{2}', false],
    ['((((a{10}){10}){10}){1}){1}', true],
    ['\\x{10FFFF}', true],
    ['\\x{110000}', false],
    ['(?P<n>a)(?P<n>b)', true],
    ['\\07', true],
    ['\\7', false],
    ['\\77', true],
    ['\\8', false],
    ['a{,2}', true],
    ['a{2,1}', false],
    ['', true],
    ['()*', true],
    ['^*', true],
    ['(?i)(?-i)(?)', true],
    ['(?-)', false],
    ['(?i-:a)', false],
  ])('the pattern %j is accepted: %j', (pattern, accepted) => {
    expect(!('reason' in compilePattern({ pattern, caseSensitive: true }))).toBe(accepted);
  });
});

describe('the meaning is the one of the pattern as written', () => {
  test.each([
    ['\\Q/(?<\\E', 'x/(?<y', [1, 5]],
    ['[/(?<n>]+', 'a/(?<n>z', [1, 7]],
    ['a/b', 'a/b', [0, 3]],
    ['[[:alpha](?<n>])', 'p]', [0, 2]],
    ['[\\P{Any}]', 'anything', undefined],
    ['[^\\P{Any}]', 'x', [0, 1]],
    ['\\p{Any}', '\n', [0, 1]],
    ['a.b', 'a\nb', undefined],
    ['(?s)a.b', 'a\nb', [0, 3]],
    ['^b', 'a\nb', undefined],
    ['(?m)^b', 'a\nb', [2, 3]],
    ['a$', 'a\nb', undefined],
    ['a|ab', 'ab', [0, 1]],
    ['(?U)a+', 'aaa', [0, 1]],
    ['\\bя', ' я', undefined],
    ['\\B', 'xéx', [2, 2]],
  ] as const)('the parsed pattern %s has the meaning of the original on the text %j', (pattern, text, expected) => {
    const compiled = compilePattern({ pattern, caseSensitive: true });
    if ('reason' in compiled) throw new Error(compiled.reason);
    const [span] = compiled.matches(Buffer.from(text), 1);
    expect(span === undefined ? undefined : [span.start, span.end]).toEqual(expected);
    expect(compiled.test(Buffer.from(text))).toBe(expected !== undefined);
  });
});
