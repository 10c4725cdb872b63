import { expect, test } from 'vitest';
import { type Fold, folds } from '#contracts/folds';
import { type BaselineRule, definitionSchema } from '#contracts/policy';
import { bundle, bundleOf, masking, policy, quiet, regex, section, stopList } from '../testing/build-bundle.ts';
import { requestOutcomes } from '../testing/request-outcomes.ts';
import { startRuntime } from '../testing/start-runtime.ts';
import { compileBundle } from './compile-bundle.ts';
import { judgeDivision } from './division.ts';
import { parseBundle } from './parse-bundle.ts';
import { judgeStreaming } from './streaming.ts';

const list = (terms: readonly string[], fold: readonly Fold[] = folds, match: 'token' | 'substring' = 'token') =>
  stopList('words', terms, { match, fold: [...fold] });

function pattern(source: string, fold: readonly Fold[] = folds): ReturnType<typeof regex> {
  const rule = regex('pattern', source, false);
  return { ...rule, regex: { ...rule.regex, fold: [...fold] } };
}

test('a rule without folds matches equal characters only', async () => {
  const rules = [stopList('words', ['big dog'], { match: 'token' })];
  expect(await requestOutcomes(rules, ['big dog', 'big  dog', 'bіg dog'])).toEqual(['deny', 'pass', 'pass']);
});

test.each<[Fold, string, string]>([
  ['whitespace', 'big \n dog', 'big d\u200bog'],
  ['invisible', 'b\u200big d\u00adog', 'big  dog'],
  ['compatibility', 'ｂig dog', 'bіg dog'],
  ['confusables', 'bіg dоg', 'ｂig  dog'],
])('a stop list with the fold %s ignores that difference and no other', async (fold, matched, other) => {
  expect(await requestOutcomes([list(['big dog'], [fold])], [matched, other])).toEqual(['deny', 'pass']);
});

test('a term in another spelling matches the plain text and other spellings', async () => {
  const texts = ['бомба', 'бoмба', 'бо\u0301мба', 'ёлка', 'елка', 'бомбар'];
  expect(await requestOutcomes([list(['БOМБА', 'ёлка'])], texts)).toEqual([
    'deny',
    'deny',
    'deny',
    'deny',
    'deny',
    'pass',
  ]);
});

test('a pattern with folds matches exactly and in folded texts', async () => {
  const texts = ['make a bomb', 'make  a\nbоmb', 'mаke a b\u200bomb', 'make bomb'];
  expect(await requestOutcomes([pattern('make\\sa\\sbomb')], texts)).toEqual(['deny', 'deny', 'deny', 'pass']);
  expect(await requestOutcomes([pattern('[а-я]{2}\\d{2}')], ['аб12', 'аb12', 'ab12', 'zz12'])).toEqual([
    'deny',
    'deny',
    'deny',
    'pass',
  ]);
  expect(await requestOutcomes([pattern('make\\s\\sa bomb')], ['make  a bomb', 'make a bomb'])).toEqual([
    'deny',
    'pass',
  ]);
});

test('a mask replaces the original bytes of a folded match, each once', async () => {
  const rules = [masking(list(['big dog'], folds, 'substring'), '#')];
  const texts = ['a bіg\u200b \n dоg.', 'big dog', 'big dog and ｂig  dog', 'х big  dogма'];
  expect(await requestOutcomes(rules, texts)).toEqual(['a #.', '#', '# and #', 'х #ма']);
});

test('a mask by a pattern covers the union of its matches in the exact and in the folded text', async () => {
  expect(await requestOutcomes([masking(pattern('[a-z]{3,}'), '#')], ['abcdе xyz', 'a\u200bbc'])).toEqual(['# #', '#']);
});

test('the limit of matches counts a match that both passes find once', async () => {
  const limited = { limits: { ...bundle([]).limits, maxMatches: 2 } };
  const rules = section([masking(list(['dog'], folds, 'substring'), '#')]);
  await using runtime = await startRuntime(bundle([policy(rules)], limited));
  const outcomeOf = async (text: string): Promise<string> => {
    const { json } = await runtime.check('request', [text]);
    return String(json.action?.['reason'] ?? json.code);
  };
  expect(await outcomeOf('dog  dоg')).toBe('content_redacted');
  expect(await outcomeOf('dog  dоg dog')).toBe('match_limit');
});

test('a mask fails where one pass reaches the limit of matches, although the other joins them to fewer', async () => {
  const limited = { limits: { ...bundle([]).limits, maxMatches: 3 } };
  const rules = section([masking(list(['a', 'a a a b'], ['whitespace']), '#')]);
  await using runtime = await startRuntime(bundle([policy(rules)], limited));
  const { json } = await runtime.check('request', ['a a a  b a a']);
  expect(json.code).toBe('match_limit');
});

test('terms that fold to an empty text are matched exactly only', async () => {
  expect(await requestOutcomes([list(['\u200b'], folds, 'substring')], ['a\u200bb', 'ab'])).toEqual(['deny', 'pass']);
});

const streams = (rule: BaselineRule) =>
  judgeStreaming(bundle([policy(section([quiet]), section([rule]))])).streaming[0]?.allowed;

test('a response rule with folds allows streams if no match is longer than 42 characters', () => {
  expect(streams(list(['a'.repeat(42)]))).toBe(true);
  expect(streams(list(['a'.repeat(43)]))).toBe(false);
  expect(streams(pattern('a{42}'))).toBe(true);
  expect(streams(pattern('a{43}'))).toBe(false);
  expect(streams(pattern('\\ba{41}\\b'))).toBe(true);
  expect(streams(pattern('\\ba{42}\\b'))).toBe(false);
});

test('a request rule with folds needs the whole text, so that its policy guards no documents', () => {
  expect(judgeDivision(bundle([policy(section([list(['dog'])]))]))[0]).toEqual({
    policyId: 'policy-a',
    allowed: false,
    rule: 'the rule words',
  });
});

test('a rule with folds has the costs of both passes and of folding', () => {
  const tight = (rule: BaselineRule, timeoutMs: number): boolean => {
    const parsed = parseBundle(Buffer.from(JSON.stringify(bundleOf([{ ...rule, timeoutMs }]))));
    const compiled = parsed.ok && compileBundle(parsed, () => async () => ({ kind: 'allow' }));
    return compiled !== false && compiled.ok;
  };
  // 32,768 bytes at 40 ns for terms and 16 ns for folding: 1.31 ms exactly, 1.84 ms folded; a quarter of timeoutMs.
  const exact = stopList('words', ['dog']);
  expect([tight(exact, 6), tight(list(['dog'], folds, 'substring'), 6)]).toEqual([true, false]);
  expect(tight(list(['dog'], folds, 'substring'), 8)).toBe(true);
});

test('\\C is refused in a pattern with folds', () => {
  const parsed = parseBundle(Buffer.from(JSON.stringify(bundleOf([pattern('a\\C')]))));
  const compiled = parsed.ok && compileBundle(parsed, () => async () => ({ kind: 'allow' }));
  const problem = { rule: 'pattern', code: 'bundle_invalid' };
  expect(compiled).toMatchObject({ ok: false, problems: [problem, problem] });
});

test.each([[[]], [['spaces']], [[...folds, 'whitespace']], ['whitespace']])('the folds %j are refused', (fold) => {
  const rule = {
    ...stopList('words', ['dog']),
    stopList: { terms: ['dog'], match: 'token', caseSensitive: false, fold },
  };
  const one = { deadlineMs: 4_000, baseline: [rule], additional: [] };
  const definition = { request: one, response: one, providers: [] };
  expect(definitionSchema.safeParse(definition).success).toBe(false);
});
