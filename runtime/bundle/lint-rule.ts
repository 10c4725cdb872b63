import { parsePattern } from '../rules/pattern/syntax/parse-pattern.ts';
import { shapeOf } from '../rules/pattern/syntax/pattern-shape.ts';
import type { LocalRule } from './compile-local-rule.ts';

/** Maximum number of terms that one warning names by their position. */
const namedTerms = 5;
/** Signs of a regular expression that no ordinary term has: `\b` at an end, a repeated class or dot, a group with options. */
const regularExpression =
  /^\\b|\\b$|\\[dDsSwW][+*?{]|\.[*+]|\(\?(?:[a-z]+\)|[a-z]*:)|\[\^?(?:a-z|A-Z|0-9|а-я|А-Я)|^\^.*\$$/u;
/** White space at an end. */
const outerBlank = /^\s|\s$/u;
/**
 * `\b` directly before or after a character outside of ASCII, also at the beginning or the end of a group or a class.
 */
const boundaryBesideOther =
  /(?<!\\)\\b(?:\((?:\?[a-z]*:)?|\[)*[^\p{ASCII}]|[^\p{ASCII}](?:[\])]|[+*?]|\{[\d,]*\})*\\b/u;

/** The fewest characters of a number with valid check digits. */
const shortestNumber = { luhn: 8, iban: 15, inn: 10, snils: 11, mrz: 2 } as const;

/**
 * Finds probable mistakes of an author: terms that are written as regular expressions, terms that their own rule
 * never or rarely finds, `\b` next to letters that it does not treat as word characters, and masks that show most of a match. Each is a
 * warning, because the rule is valid.
 */
export function lintRule(rule: LocalRule): readonly string[] {
  const own = rule.kind === 'stop_list' ? lintTerms(rule.stopList) : lintPattern(rule.regex.pattern);
  return [...own, ...lintMask(rule)];
}

/** A match that is not longer than the kept characters keeps none, and one of twice as many shows half of them. */
function lintMask(rule: LocalRule): readonly string[] {
  const { action } = rule;
  const kept = action.type === 'mask' ? (action.keepFirst ?? 0) + (action.keepLast ?? 0) : 0;
  if (kept === 0) return [];
  const length = matchLengths(rule)
    .map(({ least, most }) => ({ length: Math.max(least, kept + 1), most }))
    .filter(({ length, most }) => length < 2 * kept && length <= most)
    .reduce((shortest, one) => Math.min(shortest, one.length), Number.POSITIVE_INFINITY);
  if (!Number.isFinite(length)) return [];
  return [
    `a match of ${length} characters shows ${kept} of them (keepFirst and keepLast): keep at most half of the shortest match, or match longer texts only`,
  ];
}

type Lengths = { readonly least: number; readonly most: number };

/** The numbers of characters that matches can have, without what folds and stems change; none if the pattern is not valid. */
function matchLengths(rule: LocalRule): readonly Lengths[] {
  if (rule.kind === 'stop_list') {
    return rule.stopList.terms.map((term) => {
      const { length } = Array.from(term);
      return { least: length, most: length };
    });
  }
  const tree = parsePattern(rule.regex);
  if ('reason' in tree) return [];
  const { checksum } = rule.regex;
  const shortest = checksum === undefined ? 0 : shortestNumber[checksum];
  const alternatives = tree.node.kind === 'either' ? tree.node.items : [tree.node];
  return alternatives.map(shapeOf).map(({ minCharacters, maxCharacters }) => {
    return { least: Math.max(minCharacters, shortest), most: maxCharacters };
  });
}

function lintTerms(list: Extract<LocalRule, { kind: 'stop_list' }>['stopList']): readonly string[] {
  const { terms, caseSensitive, allow = [] } = list;
  const same = (text: string): string => (caseSensitive ? text : text.toLowerCase());
  const allowed = new Set(allow.map(same));
  return [
    warningOf(
      placesOf(terms, (term) => regularExpression.test(term)),
      (which) => ({
        message: `${which} written as a regular expression, and terms are literal texts`,
        remedy: 'write the text, or use a rule of kind regex',
      }),
    ),
    warningOf(
      placesOf(terms, (term) => outerBlank.test(term)),
      (which) => ({
        message: `${which} found only together with outer white space, and not next to punctuation or at an end of a text`,
        remedy: 'remove the white space and use match: token',
      }),
    ),
    warningOf(
      placesOf(terms, (term) => allowed.has(same(term))),
      (which) => ({
        message: `${which} never found, because allow lists the same text`,
        remedy: 'remove one of them',
      }),
    ),
  ].filter((warning) => warning !== undefined);
}

function lintPattern(pattern: string): readonly string[] {
  if (!boundaryBesideOther.test(pattern)) return [];
  return [
    'it has \\b next to a character outside of ASCII, where \\b is a boundary only next to an ASCII letter, digit or underscore: remove \\b, or use a stop list with match: token',
  ];
}

/** The positions of terms, from 1. */
function placesOf(terms: readonly string[], isMeant: (term: string) => boolean): readonly number[] {
  return terms.flatMap((term, index) => (isMeant(term) ? [index + 1] : []));
}

function warningOf(
  places: readonly number[],
  textOf: (which: string) => { readonly message: string; readonly remedy: string },
): string | undefined {
  if (places.length === 0) return undefined;
  const more = places.length > namedTerms ? ` and ${places.length - namedTerms} more` : '';
  const named = places.slice(0, namedTerms).join(', ');
  const { message, remedy } = textOf(places.length === 1 ? `term ${named} is` : `terms ${named}${more} are`);
  return `${message}: ${remedy}`;
}
