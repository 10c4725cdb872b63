import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BaselineRule, definitionSchema } from '#contracts/policy';
import { longestStemmed } from '#kit/text/snowball-stem';
import { checkedText } from '../rules/checked-text.ts';
import { preparedMatching } from '../rules/pattern/search/matching.ts';
import { maxStemmedWords } from '../rules/terms/stem-text.ts';
import { bundle, bundleOf, masking, policy, quiet, regex, section, stopList } from '../testing/build-bundle.ts';
import { startRuntime } from '../testing/start-runtime.ts';
import { acceptedPass } from './accepted-pass.ts';
import { compileBundle } from './compile-bundle.ts';
import { judgeDivision } from './division.ts';
import { parseBundle } from './parse-bundle.ts';
import { judgeStreaming } from './streaming.ts';
import { termPass } from './term-pass.ts';

const card = '\\b\\d{4}(?:[ -]?\\d{4}){3}\\b';
const email = '\\b[a-z]{1,20}@[a-z]{1,20}\\.com\\b';

const stemmed = (terms: readonly string[], more: object = {}) =>
  stopList('words', terms, { match: 'token', stem: 'snowball', ...more });
const allowing = (pattern: string, allow: string[]) => {
  const rule = regex('pattern', pattern);
  return { ...rule, regex: { ...rule.regex, allow } };
};
function keeping(rule: ReturnType<typeof regex>, keep: { keepFirst?: number; keepLast?: number }): BaselineRule {
  return { ...rule, action: { type: 'mask', replacement: '****', ...keep } };
}

/** The outcome of a request: `pass`, `deny`, the code of a failure, or the masked text. */
async function outcomes(rules: readonly BaselineRule[], texts: readonly string[]): Promise<readonly string[]> {
  await using runtime = await startRuntime(bundleOf(rules));
  const results: string[] = [];
  for (const text of texts) {
    const { json } = await runtime.check('request', [text]);
    const content = json.action?.['body']?.['messages']?.['0']?.['content'];
    const short = { policy_pass: 'pass', policy_denied: 'deny' }[String(json.action?.['reason'])];
    results.push(short ?? (content === undefined ? String(json.code) : String(content)));
  }
  return results;
}

const compile = (rule: BaselineRule, more: object = {}) => {
  const parsed = parseBundle(Buffer.from(JSON.stringify(bundleOf([{ ...rule, ...more } as BaselineRule]))));
  return parsed.ok ? compileBundle(parsed, () => async () => ({ kind: 'allow' })) : parsed;
};
const streams = (rule: BaselineRule) =>
  judgeStreaming(bundle([policy(section([quiet]), section([rule]))])).streaming[0]?.allowed;
const divided = (rule: BaselineRule) => judgeDivision(bundle([policy(section([rule]))]))[0]?.allowed;

describe('kept characters', () => {
  test('a mask keeps the named number of characters at the ends of a match', async () => {
    const texts = ['card 4111 1111 1111 1234.'];
    expect(await outcomes([keeping(regex('card', card), { keepLast: 4 })], texts)).toEqual(['card ****1234.']);
    expect(await outcomes([keeping(regex('card', card), { keepFirst: 2, keepLast: 4 })], texts)).toEqual([
      'card 41****1234.',
    ]);
  });

  test('keepFirst and keepLast apply only to a match that is longer than both together; a shorter match is masked completely', async () => {
    const rules = [keeping(regex('word', '\\bk\\pL*'), { keepFirst: 1, keepLast: 2 })];
    expect(await outcomes(rules, ['kшюя, kшя, kш'])).toEqual(['k****юя, ****, ****']);
  });

  test('characters that a mask keeps are written as JSON', async () => {
    const rules = [keeping(regex('quoted', 'key="[^"]{2,40}"'), { keepLast: 2 })];
    expect(await outcomes(rules, ['key="abc" \u00e9'])).toEqual(['****c" \u00e9']);
  });

  test('two rules that mask one match and keep the same characters have one mask; different characters are a failure', async () => {
    const one = keeping(regex('one', card), { keepLast: 4 });
    const other = keeping(regex('other', '\\b\\d{4} [\\d ]{14}\\b'), { keepLast: 4 });
    const third = keeping(regex('third', card), { keepLast: 3 });
    expect(await outcomes([one, other], ['4111 1111 1111 1234'])).toEqual(['****1234']);
    expect(await outcomes([one, third], ['4111 1111 1111 1234'])).toEqual(['invalid_replacement']);
  });
});

describe('an allow-list', () => {
  test('an allow-list removes matches inside of an allowed text, and no others', async () => {
    const rules = [masking(allowing(email, ['help@acme.com']), '#')];
    const texts = ['help@acme.com, ann@acme.com, xhelp@acme.com', 'help@acme.com', 'Help@acme.com'];
    expect(await outcomes(rules, texts)).toEqual(['help@acme.com, #, #', 'pass', 'pass']);
  });

  test('the allow-list of a stop list is matched in the same way as its terms', async () => {
    const part = stopList('words', ['bomb'], { allow: ['bath bomb'] });
    expect(await outcomes([part], ['a Bath Bomb', 'bath bombs', 'a bath bomb and a bomb', 'bomb'])).toEqual([
      'pass',
      'pass',
      'deny',
      'deny',
    ]);
    const whole = stopList('words', ['bomb', 'bombs'], { match: 'token', allow: ['bath bomb'] });
    expect(await outcomes([whole], ['a bath bomb', 'bath bombs'])).toEqual(['pass', 'deny']);
  });

  test('an allow-list hides no match that extends beyond an allowed text', async () => {
    const list = stopList('words', ['aurora', 'ora bomb'], { allow: ['aurora'] });
    expect(await outcomes([list], ['aurora', 'aurora bomb'])).toEqual(['pass', 'deny']);
  });

  test('a stop list and a pattern with an allow-list find what a naive implementation finds', () => {
    const pieces = ['ab', 'b', 'ba', ' ', 'я', '-'];
    const parts = (minLength: number, maxLength: number) =>
      fc.array(fc.constantFrom(...pieces), { minLength, maxLength }).map((some) => some.join(''));
    const { limits } = bundle([]);
    let compared = 0;
    fc.assert(
      fc.property(parts(1, 4), parts(1, 4), parts(0, 14), (term, allow, text) => {
        const placesOf = (part: string): number[] =>
          Array.from(text, (_, at) => at).filter((at) => text.startsWith(part, at));
        const isLetter = (character: string | undefined): boolean =>
          character !== undefined && /\p{L}/u.test(character);
        const isWhole = (at: number, part: string): boolean =>
          !isLetter(text[at - 1]) && !isLetter(text[at + part.length]);
        const counts = (allowed: readonly number[], begins: (at: number) => boolean): boolean =>
          placesOf(term).some(
            (at) => begins(at) && !allowed.some((from) => from <= at && from + allow.length >= at + term.length),
          );
        const checked = checkedText(Buffer.from(text));
        const list = stopList('words', [term], { allow: [allow], caseSensitive: true });
        expect(termPass(list.stopList, undefined, limits)?.test(checked)).toBe(counts(placesOf(allow), () => true));
        const source = { pattern: `\\b${term}`, caseSensitive: true, allow: [allow] };
        const pass = acceptedPass(source, undefined, { limits, matching: preparedMatching });
        if ('reason' in pass || !/^[ab]/.test(term)) return;
        const isBegin = (at: number): boolean => !/[ab]/.test(text[at - 1] ?? '');
        const whole = placesOf(allow).filter((at) => isWhole(at, allow));
        compared += 1;
        expect(pass.test(checked)).toBe(counts(whole, isBegin));
      }),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  test('a rule with an allow-list refuses streams, and documents if an allowed text has white space', () => {
    expect(streams(allowing(email, ['help@acme.com']))).toBe(false);
    expect(streams(stopList('words', ['bomb'], { allow: ['bombast'] }))).toBe(false);
    expect(divided(stopList('words', ['bomb'], { allow: ['bombast'] }))).toBe(true);
    expect(divided(stopList('words', ['bomb'], { allow: ['bath bomb'] }))).toBe(false);
  });

  test('an allow-list is refused for a pattern that may begin everywhere', () => {
    expect(compile(allowing('[0-9 ]{3,90}', ['1']))).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('begin the pattern with') }, {}],
    });
  });
});

describe('stems', () => {
  test('a term matches other forms of its words, in English and Russian, and no other words', async () => {
    const rules = [stemmed(['взрывчатка', 'make a bomb', 'ёлка'])];
    const texts = ['о взрывчаткой.', 'Making a bombs', 'елками', 'взрыв', 'make the bomb', 'bomb', 'makers a bomb'];
    expect(await outcomes(rules, texts)).toEqual(['deny', 'deny', 'deny', 'pass', 'pass', 'pass', 'pass']);
  });

  test('a mask of a stemmed term covers the form in the text, and exact matches', async () => {
    const rules = [masking(stemmed(['бомба', 'c++', 'x1']), '#')];
    expect(await outcomes(rules, ['Бомбами и bombs, C++ x1; бомба!'])).toEqual(['# и bombs, # #; #!']);
  });

  test('without stem a term matches itself only', async () => {
    expect(await outcomes([stopList('words', ['bomb'], { match: 'token' })], ['bombs'])).toEqual(['pass']);
  });

  test('a word of 40 letters is stemmed, a longer one is not', async () => {
    const word = (count: number) => 'k'.padStart(count, 'bomb');
    const rules = [stemmed([word(longestStemmed - 3), word(longestStemmed - 2)])];
    const texts = [`${word(longestStemmed - 3)}ing`, `${word(longestStemmed - 2)}ing`];
    expect(await outcomes(rules, texts)).toEqual(['deny', 'pass']);
  });

  test('a text with more words than may be stemmed fails the check', async () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `bom${letters(at)}`).join(' ');
    const rules = [stemmed(['bombast'])];
    expect(await outcomes(rules, [words(maxStemmedWords), words(maxStemmedWords + 1)])).toEqual([
      'pass',
      'engine_failure',
    ]);
  });

  test('stemmed terms of up to two words allow streams, and longer ones refuse them', () => {
    expect(streams(stemmed(['make bomb']))).toBe(true);
    expect(streams(stemmed(['make a nice bomb']))).toBe(false);
  });

  test('a stemming rule with a timeout of 20 ms is refused, because stemming takes longer', () => {
    expect(compile(stemmed(['bomb']), { timeoutMs: 20 })).toMatchObject({
      ok: false,
      problems: [{ code: 'rule_too_costly' }, {}],
    });
    expect(compile(stemmed(['bomb']), { timeoutMs: 100 })).toMatchObject({ ok: true });
  });

  test.each([
    ['fold', { fold: ['whitespace'] }],
    ['substring', { match: 'substring' }],
    ['letter case', { caseSensitive: true }],
  ])('a rule with stem and %s is refused', (_, more) => {
    expect(compile(stemmed(['bomb'], more))).toMatchObject({ ok: false });
  });
});

/** A number in letters, so that each is a separate word. */
function letters(number: number): string {
  return String(number)
    .padStart(4, '0')
    .replaceAll(/\d/g, (digit) => 'bcdfghjkpt'.charAt(Number(digit)));
}

describe('shared rules', () => {
  const base = { request: section([quiet]), response: section([quiet]), providers: [] };

  test('a definition may have shared rules, with unique ids and times within both deadlines', () => {
    const shared = [stopList('house', ['bomb'])];
    expect(definitionSchema.safeParse({ ...base, shared }).success).toBe(true);
    expect(definitionSchema.safeParse({ ...base, shared: [...shared, ...shared] }).success).toBe(false);
    expect(definitionSchema.safeParse({ ...base, shared: [quiet] }).success).toBe(false);
    const short = { ...base, response: { ...base.response, deadlineMs: 2_000 } };
    expect(definitionSchema.safeParse({ ...short, shared: [{ ...shared[0], timeoutMs: 2_001 }] }).success).toBe(false);
  });
});
