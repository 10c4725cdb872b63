import { defaultBundleLimits } from '#contracts/bundle';
import { type Checksum, checksums } from '#contracts/checksums';
import { folds } from '#contracts/folds';
import { regexEngine } from '#contracts/local-rules';
import { compileLocalRule, type LocalRule } from '../../runtime/bundle/compile-local-rule.ts';
import { planUnits } from '../../runtime/bundle/plan-units.ts';
import { checkedText } from '../../runtime/rules/checked-text.ts';
import { preparedMatching } from '../../runtime/rules/pattern/search/matching.ts';
import { collectMatches, startCollection } from '../../runtime/rules/replace-matches.ts';
import { maxStemmedWords } from '../../runtime/rules/terms/stem-text.ts';
import { makeFoldedRule, makeFoldedText } from '../differential/compare-folds.ts';
import { createRandom, type Random } from '../streaming/random.ts';
import type { FigureSize } from '../support/figure.ts';
import { fastestMs } from './fastest.ts';

type Option = 'fold' | 'checksum' | 'allow' | 'stem' | 'keep';
type Measured = { readonly option: Option; readonly rule: LocalRule; readonly costMs: number; readonly tookMs: number };

/** For each option, the number of measured rules and the largest ratio of measured to estimated time. */
export type OptionReport = {
  readonly option: Option;
  readonly rules: number;
  readonly largestRatio: number;
  readonly costMs: number;
  readonly tookMs: number;
};

const options: readonly Option[] = ['fold', 'checksum', 'allow', 'stem', 'keep'];
const timeoutMs = 100;
/** Maximum cost of one pass at this timeout, milliseconds. */
const passMs = 25;
const { maxBodyBytes, maxMatches } = defaultBundleLimits;

/** Measures generated rules with folds, checksums, allow-lists, stems and kept characters on texts that are slow for them. */
export function judgeOptions(size: FigureSize, say: (line: string) => void): readonly OptionReport[] {
  const count = size === 'full' ? 120 : 4;
  const random = createRandom(17);
  return options.map((option) => {
    const measured: Measured[] = [];
    for (let at = 0; at < count; at += 1) {
      const { rule, texts } = makers[option](random, at);
      measured.push(...(measure(option, rule, texts) ?? []));
    }
    measured.sort((one, other) => other.tookMs / other.costMs - one.tookMs / one.costMs);
    const [furthest] = measured;
    if (furthest === undefined) throw new Error(`no rule with ${option} is admitted`);
    const { costMs, tookMs } = furthest;
    const largestRatio = tookMs / costMs;
    say(
      `${option}: ${measured.length} of ${count} rules admitted; the largest ratio of measured to estimated time is ` +
        `${largestRatio.toFixed(2)} (${tookMs.toFixed(2)} of ${costMs.toFixed(2)} ms)`,
    );
    return { option, rules: measured.length, largestRatio, costMs, tookMs };
  });
}

/** The slowest text of a rule; undefined for a rule that admission refuses. */
function measure(option: Option, rule: LocalRule, texts: readonly string[]): readonly Measured[] | undefined {
  const stage = 'request' as const;
  const matcher = compileLocalRule(rule, { stage, limits: defaultBundleLimits, matching: preparedMatching });
  if ('reason' in matcher) return undefined;
  const placed = [{ place: 0, id: rule.id, timeoutMs, matcher }];
  const { units, costs, refused } = planUnits(placed, { maxBodyBytes, passMs }, preparedMatching);
  if (refused.length > 0 || costs.some(({ costMs }) => !(costMs <= passMs))) return undefined;
  const costMs = costs.reduce((sum, one) => sum + one.costMs, 0);
  const compiled = { policyId: 'p', stage, id: rule.id, kind: rule.kind, mode: 'enforce', timeoutMs } as const;
  const tookMs = texts.map((text) => {
    const bytes = Buffer.from(text);
    return fastestMs(3, () => {
      const checked = checkedText(bytes);
      const fires = units.filter(({ firing }) => firing(checked).length > 0).length > 0;
      if (!fires || matcher.effect.kind !== 'mask') return;
      collectMatches(
        startCollection(maxMatches),
        { ...compiled, effect: matcher.effect },
        { place: 0, text: 0 },
        checked,
      );
    });
  });
  return [{ option, rule, costMs, tookMs: Math.max(...tookMs) }];
}

type Made = { readonly rule: LocalRule; readonly texts: readonly string[] };

const makers: Readonly<Record<Option, (random: Random, at: number) => Made>> = {
  fold: (random) => {
    const rule = makeFoldedRule(random);
    const own = Array.from({ length: 3 }, () => filled(makeFoldedText(rule, random)));
    return { rule, texts: [...own, ...['ａ', 'a\u0301', ' \u00a0\n', 'о', 'a\u200b', 'ﬁ'].map(filled)] };
  },
  checksum: (random, at) => {
    const kind = checksums[at % checksums.length] ?? 'luhn';
    const { pattern, units } = numbers[kind];
    const texts = [...units, `${random.between(0, 9)} `, '1', '0-', 'A'].map(filled);
    const fold = random.chance(30) ? { fold: [...folds] } : {};
    return { rule: patternRule(pattern(random.between(0, 3)), random, { checksum: kind, ...fold }), texts };
  },
  allow: (random) => {
    const piece = (): string =>
      Array.from({ length: random.between(1, 3) }, () => random.pick(['a', 'ab', 'я', ' b'])).join('');
    const some = (most: number): string[] => Array.from({ length: random.between(1, most) }, piece);
    const [terms, allow] = [some(4), some(40)];
    const texts = [...terms, ...allow.slice(0, 3), `${terms[0]}${allow[0]} `, 'a ', 'ab'].map(filled);
    if (random.chance(50)) return { rule: listRule(terms, random, { allow }), texts };
    return { rule: patternRule(`\\b(?:a|b[ab ]{0,9})${random.pick(['\\b', 'a', ''])}`, random, { allow }), texts };
  },
  stem: (random) => {
    const terms = Array.from({ length: random.between(1, 6) }, () =>
      random.pick(['bomb', 'make it', 'бомба', 'организация']),
    );
    const texts = [
      ...[3, 4, 5, 7, 12, 40].map((letters) => words(terms, letters)),
      filled(`${terms.join('s ')} `),
      filled('a '),
    ];
    return { rule: listRule(terms, random, { match: 'token', caseSensitive: false, stem: 'snowball' }), texts };
  },
  keep: (random) => {
    const action = {
      type: 'mask',
      replacement: '*',
      keepFirst: random.between(1, 16),
      keepLast: random.between(1, 16),
    } as const;
    const rule = { ...patternRule(random.pick(['k[^k]+', '\\bk\\d{3,40}', '(?s)k.*']), random, {}), action };
    return { rule, texts: ['k123 ', `k${'ж'.repeat(400)}`, `k${'x'.repeat(120)}`, 'k', 'x'].map(filled) };
  },
};

const numbers: Readonly<
  Record<Checksum, { readonly pattern: (more: number) => string; readonly units: readonly string[] }>
> = {
  luhn: {
    pattern: (more) => `\\b\\d(?:[ -]?\\d){${12 - more},18}\\b`,
    units: ['4111 1111 1111 1111 ', '4111111111111112 '],
  },
  iban: {
    pattern: (more) => `\\b[A-Z]{2}\\d{2}(?: ?[A-Z0-9]){${11 + more},30}\\b`,
    units: ['DE89370400440532013000 ', 'DE89 '],
  },
  inn: { pattern: (more) => `\\b\\d{10}(?:\\d{2}){0,${1 + more}}\\b`, units: ['7707083893 ', '770708389312 '] },
  snils: {
    pattern: (more) => `\\b\\d{3}-?\\d{3}-?\\d{3}[ -]{0,${1 + more}}\\d{2}\\b`,
    units: ['112-233-445 95 ', '11223344596 '],
  },
  mrz: {
    pattern: (more) => `\\b[A-Z0-9<]{${40 + more},44}\\b`,
    units: ['L898902C36UTO7408122F1204159ZE184226B<<<<<10 '],
  },
};

function patternRule(pattern: string, random: Random, more: object): LocalRule {
  const regex = { engine: regexEngine, pattern, caseSensitive: true, ...more } as const;
  return { id: 'rule', timeoutMs, action: actionOf(random), kind: 'regex', regex };
}

function listRule(terms: readonly string[], random: Random, more: object): LocalRule {
  const match = random.pick(['token', 'substring'] as const);
  const stopList = { terms: [...terms], match, caseSensitive: random.chance(50), ...more };
  return { id: 'rule', timeoutMs, action: actionOf(random), kind: 'stop_list', stopList };
}

function actionOf(random: Random): LocalRule['action'] {
  return random.chance(50) ? { type: 'deny' } : { type: 'mask', replacement: '#' };
}

/** The unit as often as it fits into a body. */
function filled(unit: string): string {
  return unit.repeat(Math.max(1, Math.floor(maxBodyBytes / Buffer.byteLength(unit))));
}

/**
 * The maximum number of different words of a length that may be stemmed, each with the beginning of a term, until the
 * body is full.
 */
function words(terms: readonly string[], letters: number): string {
  const begins = terms.map((term) => term.slice(0, Math.min(3, letters - 2)));
  const made: string[] = [];
  for (let at = 0, size = 0; at < maxStemmedWords - 1; at += 1) {
    const begin = begins[at % begins.length] ?? '';
    const alphabet = /[а-я]/.test(begin) ? 'абвгдежзиклмнопрстуфхцчшыэюя' : 'abcdefghijklmnopqrstuvwxyz';
    let rest = '';
    for (let left = at; rest.length + begin.length < letters; left = Math.floor(left / alphabet.length))
      rest += alphabet.charAt(left % alphabet.length);
    made.push(begin + rest);
    size += Buffer.byteLength(begin + rest) + 1;
    if (size > maxBodyBytes) return made.slice(0, -1).join(' ');
  }
  return made.join(' ');
}
