import { defaultBundleLimits } from '#contracts/bundle';
import { type Fold, folds } from '#contracts/folds';
import { regexEngine } from '#contracts/local-rules';
import type { Stage } from '#contracts/policy';
import { compileLocalRule, type LocalRule } from '../../runtime/bundle/compile-local-rule.ts';
import { checkedText } from '../../runtime/rules/checked-text.ts';
import { foldView } from '../../runtime/rules/fold/fold-text.ts';
import { foldCharacters } from '../../runtime/rules/fold/testing/fold-arbitrary.ts';
import { charactersOf, foldNaively, type NaiveUnit } from '../../runtime/rules/fold/testing/naive-fold.ts';
import { workedOut } from '../../runtime/rules/pattern/cost/pattern-figures.ts';
import { openPattern } from '../../runtime/rules/pattern/search/engine.ts';
import { parsePattern } from '../../runtime/rules/pattern/syntax/parse-pattern.ts';
import type { PatternNode } from '../../runtime/rules/pattern/syntax/pattern-tree.ts';
import { printPattern } from '../../runtime/rules/pattern/syntax/print-pattern.ts';
import { findNaively } from '../../runtime/rules/terms/testing/naive-terms.ts';
import { MAX_RUNE, runeSet } from '../../runtime/rules/unicode/rune-set.ts';
import type { Random } from '../streaming/random.ts';

type Range = { readonly start: number; readonly end: number };

/** A rule and a text whose matches differ from those of the plain implementation. */
export type FoldDifference = {
  readonly rule: LocalRule;
  readonly text: string;
  readonly here: string;
  readonly plain: string;
};

type FoldReport = { readonly matching: number; readonly differences: readonly FoldDifference[] };

/** A rule with folds, made of characters that folds treat differently. */
export function makeFoldedRule(random: Random): LocalRule {
  const kinds = folds.filter(() => random.chance(60));
  const fold: Fold[] = kinds.length === 0 ? [random.pick(folds)] : kinds;
  const common = { id: 'rule', timeoutMs: 1_000, action: { type: 'mask', replacement: '#' } } as const;
  const caseSensitive = random.chance(50);
  if (random.chance(50)) {
    const terms = Array.from({ length: random.between(1, 4) }, () => characters(random, 4));
    const match = random.pick(['token', 'substring'] as const);
    return { ...common, kind: 'stop_list', stopList: { terms, match, caseSensitive, fold } };
  }
  return {
    ...common,
    kind: 'regex',
    regex: { engine: regexEngine, pattern: makePattern(random), caseSensitive, fold },
  };
}

function characters(random: Random, most: number): string {
  return Array.from({ length: random.between(1, most) }, () => random.pick(foldCharacters)).join('');
}

function makePattern(random: Random): string {
  const atom = (): string => {
    const one = [...random.pick(foldCharacters)];
    const written = one.map((character) => `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`).join('');
    return random.chance(20) ? `[${random.chance(25) ? '^' : ''}${written}]` : written;
  };
  const piece = (): string => {
    const repeat = random.pick(['', '', '', '{1,3}', '+', '{2}']);
    return repeat === '' ? atom() : `(?:${atom()})${repeat}`;
  };
  const sequence = (): string =>
    Array.from({ length: random.between(1, 4) }, piece).join(random.chance(15) ? '\\b' : '');
  return random.chance(25) ? `(?:${sequence()}|${sequence()})` : sequence();
}

/** A text of the same characters, and of pieces of the rule in other forms. */
export function makeFoldedText(rule: LocalRule, random: Random): string {
  const pieces = Array.from({ length: random.between(1, 6) }, () =>
    random.chance(60) ? spelled(wordOf(rule, random), random) : characters(random, 3),
  );
  return pieces.join('');
}

function wordOf(rule: LocalRule, random: Random): string {
  if (rule.kind === 'stop_list') return random.pick(rule.stopList.terms);
  return rule.regex.pattern
    .replace(/\\x\{([0-9a-f]+)\}/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/\\b|\(\?:|[()[\]^|+]|\{[\d,]+\}/g, '');
}

/** The word with some characters replaced by others that fold alike, and characters that are left out between them. */
function spelled(word: string, random: Random): string {
  return [...word]
    .map((character) => {
      const similar = foldCharacters.filter((one) => charactersOf(one, new Set(folds)).join('') === character);
      const one = similar.length > 0 && random.chance(30) ? random.pick(similar) : character;
      return random.chance(15) ? one + random.pick(['\u200b', '\u00ad', '\u0301', '  ', '\u{e0061}']) : one;
    })
    .join('');
}

/** Compares the matches of a rule with those that a plain implementation finds. Undefined for a refused rule. */
export function compareFolds(rule: LocalRule, stage: Stage, texts: readonly string[]): FoldReport | undefined {
  const compiled = compileLocalRule(rule, {
    stage,
    limits: defaultBundleLimits,
    matching: { kind: 'direct', figures: workedOut },
  });
  if ('reason' in compiled || compiled.effect.kind !== 'mask') return undefined;
  const { find } = compiled.effect;
  const findPlainly = plainMatcher(rule, stage);
  const results = texts.map((text) => ({
    rule,
    text,
    here: shown(find(checkedText(Buffer.from(text)), 1_000)),
    plain: shown(findPlainly(text)),
  }));
  return {
    matching: results.filter(({ plain }) => plain !== '').length,
    differences: results.filter(({ here, plain }) => here !== plain),
  };
}

const shown = (ranges: readonly Range[]): string => ranges.map(({ start, end }) => `${start}-${end}`).join(' ');

type FindPlainly = (text: string) => readonly Range[];

function plainMatcher(rule: LocalRule, stage: Stage): FindPlainly {
  const { fold = [] } = rule.kind === 'stop_list' ? rule.stopList : rule.regex;
  const view = foldView(fold, stage);
  const matcher = (kinds: Kinds): FindPlainly =>
    rule.kind === 'stop_list' ? termMatcher(rule, kinds) : patternMatcher(rule, kinds);
  const exact = matcher(undefined);
  const folded = matcher(view.kinds);
  return (text) => {
    const units = foldNaively(text, view.kinds, view.sourceBytes);
    const ranges = folded(units.map((unit) => unit.text).join(''));
    return union([...exact(text), ...ranges.map((range) => originalOf(range, units))]);
  };
}

type Kinds = ReadonlySet<Fold> | undefined;

function termMatcher({ stopList }: Extract<LocalRule, { kind: 'stop_list' }>, kinds: Kinds): FindPlainly {
  const { caseSensitive, match } = stopList;
  const terms = kinds === undefined ? stopList.terms : stopList.terms.map((term) => foldedTerm(term, kinds));
  const kept = terms.filter((term) => term !== '');
  return (text) => findNaively(kept, text, { caseSensitive, wholeTokens: match === 'token' });
}

function foldedTerm(term: string, kinds: ReadonlySet<Fold>): string {
  const units = foldNaively(term, kinds, Number.POSITIVE_INFINITY);
  return units.map((unit) => unit.text).join('');
}

function patternMatcher({ regex }: Extract<LocalRule, { kind: 'regex' }>, kinds: Kinds): FindPlainly {
  const tree = parsePattern(regex);
  if ('reason' in tree) throw new Error(`the pattern of a rule is refused: ${tree.reason}`);
  const node = kinds === undefined ? tree.node : withFoldedMembers(tree.node, kinds);
  const engine = openPattern(printPattern(node), true);
  if ('refused' in engine) throw new Error(`the folded pattern of a rule is refused: ${engine.refused}`);
  return (text) => {
    const bytes = Buffer.from(text);
    const ranges: Range[] = [];
    for (let from = 0; from < bytes.length; ) {
      const found = engine.find(bytes, from);
      if (found === undefined) break;
      ranges.push(found);
      from = found.end;
    }
    return ranges;
  };
}

/** Adds the folded form of each member to each class, unless the class is a negated one. */
function withFoldedMembers(node: PatternNode, kinds: ReadonlySet<Fold>): PatternNode {
  switch (node.kind) {
    case 'runes': {
      if (node.set.at(-1) === MAX_RUNE) return node;
      const pairs = [...node.set];
      for (let at = 0; at < node.set.length; at += 2) {
        for (let rune = node.set[at] ?? 0; rune <= (node.set[at + 1] ?? 0); rune += 1) {
          const forms = charactersOf(String.fromCodePoint(rune), kinds);
          const only = forms.length === 1 ? forms[0]?.codePointAt(0) : undefined;
          if (only !== undefined) pairs.push(only, only);
        }
      }
      return { kind: 'runes', set: runeSet(pairs) };
    }
    case 'concat':
    case 'either':
      return { ...node, items: node.items.map((item) => withFoldedMembers(item, kinds)) };
    case 'repeat':
      return { ...node, item: withFoldedMembers(node.item, kinds) };
    default:
      return node;
  }
}

/** The bytes of the original text from which a range of the folded text was made. */
function originalOf({ start, end }: Range, units: readonly NaiveUnit[]): Range {
  let at = 0;
  let first: number | undefined;
  let last = 0;
  for (const unit of units) {
    const next = at + Buffer.byteLength(unit.text);
    if (next > start && at < end) {
      first ??= unit.start;
      last = unit.end;
    }
    at = next;
  }
  return { start: first ?? 0, end: last };
}

function union(ranges: readonly Range[]): readonly Range[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of ranges.toSorted((left, right) => left.start - right.start || left.end - right.end)) {
    const last = joined.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}
