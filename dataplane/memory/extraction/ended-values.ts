import { analyse } from '#search/analysis/analyse';
import { isKindOf } from './kinds-of-things.ts';

/**
 * Words that mark the value after them, up to the end of the phrase, as no longer true: "no longer at Volvo", "gave up
 * on Polish", "instead of tea". `isWeak` words mark it only where the sentence also states the present value.
 */
type EndingWords = {
  /**
   * Words before the value; empty if the value comes first in its part of the sentence: "that language I gave up",
   * "кофе больше не пью".
   */
  readonly before: string;
  readonly after?: string;
  /** Topics of the values that can end with these words; values of other topics cannot. */
  readonly topics?: RegExp;
  readonly isWeak?: true;
  /**
   * The words must be at the end of their part or before a time, because other words after them change the meaning:
   * "the cat disappeared for an hour".
   */
  readonly isAtEnd?: true;
  /** The value stands alone before the words: "sushi? not my thing any more". */
  readonly isApart?: true;
  /** What the words say can have happened once only. */
  readonly canPass?: true;
  /** The words name their subject themselves: "my knee put an end to". */
  readonly isOfAnySubject?: true;
};
export type EndingLanguage = {
  readonly endings: readonly EndingWords[];
  /** Matches words of the speaker about a change. */
  readonly ofSpeaker: (words: string) => RegExp;
  /** Words for the time of an end, which follow the words of the ending. */
  readonly times: string;
  /** Words that end a phrase. */
  readonly boundary: string;
  /** Words that never belong to the value of a fact, in lower case. */
  readonly generic: ReadonlySet<string>;
  /** Words at which a value ends if they are inside of it: prepositions and times. */
  readonly inside: ReadonlySet<string>;
  /** Prepositions that can occur between the words of an ending and its value. */
  readonly prepositions: string;
  /** Words before the words of an ending that cancel it: "I almost left". */
  readonly almost: string;
  /** Matches a clause that names the replacement of something. */
  readonly replaces: RegExp;
  /** Words of a sentence that states a present value. */
  readonly present: RegExp;
  /** Words of a single event: "I had tea instead of coffee today". */
  readonly once: RegExp;
  /** Words before a sentence that corrects an earlier statement: "I meant", «опечатка». */
  readonly corrects: RegExp;
};

/** A value that a sentence states to hold no longer, as stemmed terms. */
export type EndedValue = {
  readonly terms: readonly string[];
  readonly topics: RegExp | undefined;
  /** The terms come from a clause that contains the value: the whole value of a memory must be among these terms. */
  readonly isClause?: true;
  /** The texts of the memories that can state the value. */
  readonly texts?: RegExp | undefined;
  /** Terms of the new value: a memory that states them all is not changed. */
  readonly unless?: readonly string[];
};

/**
 * The values that a sentence of the speaker states to hold no longer.
 * @param text the sentence with short forms written out
 * @param saysMore whether the sentence also makes a statement
 */
export function endedValues(language: EndingLanguage, text: string, saysMore: boolean): readonly EndedValue[] {
  const found: EndedValue[] = [];
  const isOnce = language.once.test(text);
  for (const { pattern, topics, isWeak, canPass, isSubject } of patternsOf(language)) {
    if (isWeak && !saysMore && !language.present.test(text)) continue;
    if (canPass && isOnce) continue;
    for (const { groups } of text.matchAll(pattern)) {
      const value = groups?.['value'] ?? '';
      // "A Volvo was written off" is about another one.
      if (isSubject && indefinite.test(value)) continue;
      const words = contentOf(language, value.split(' '), isWeak);
      // "went off borscht goulash is better": the last word is the subject of the next clause.
      const own = groups?.['next'] === undefined || words.length < 2 ? words : words.slice(0, -1);
      const ended = analyse(own.join(' '));
      if (ended.length > 0) found.push({ terms: ended, topics });
    }
  }
  // "No tennis today, it's pouring" is about today.
  const replaced = isOnce ? undefined : replacedIn(language, text);
  return replaced === undefined ? found : [...found, replaced];
}

const indefinite = /^(?:an?|another|some|his|her|their|your|one) /i;

/** Topics of which a person mostly has one value at a time, so that another one takes its place. */
const replaceable =
  /^(?:residence|employer|job|car|favourite|studies|learning|activity|taste|drinks|eats|uses|plan|goal|name of|habit|routine|preference|diet|my: (?:boss|hobb|хобб))/;
/** Maximum number of words of the clause that names the new value. */
const longestReplacement = 6;

/** The subject of the first part of a sentence whose second part names its replacement: "Blur got old, it's Pulp now". */
function replacedIn({ replaces }: EndingLanguage, text: string): EndedValue | undefined {
  const at = /[,;–—] /u.exec(text);
  if (at === null) return undefined;
  const [first, second] = [text.slice(0, at.index), text.slice(at.index + at[0].length)];
  if (second.trim().split(/\s+/).length > longestReplacement || !replaces.test(second)) return undefined;
  const instead = new Set(analyse(second));
  const terms = analyse(first).filter((term) => !instead.has(term));
  return terms.length === 0 ? undefined : { terms, topics: replaceable, isClause: true };
}

/**
 * The words of a value that can occur in a memory. After the words for an end the value extends to a preposition or a
 * time: "left Volvo for Saab in May". After weak words all words of the value count, because more of the value must
 * match.
 */
function contentOf(
  { generic, inside }: EndingLanguage,
  words: readonly string[],
  isWeak: true | undefined,
): readonly string[] {
  const isContent = (word: string): boolean => !generic.has(word.toLowerCase());
  const from = words.findIndex(isContent);
  if (from < 0) return [];
  const to = isWeak ? -1 : words.findIndex((word, at) => at > from && inside.has(word.toLowerCase()));
  return words.slice(from, to < 0 ? words.length : to).filter(isContent);
}

/**
 * Whether a memory states a value that has ended: the memory contains each term of the value.
 * @param value the terms of the value that the memory states
 */
export function hasEnded(ended: readonly EndedValue[], memory: StatedMemory, value: () => string): boolean {
  const own = termsOf(memory);
  const isKnown = (term: string): boolean =>
    own.has(term) || isKindOf(term, own) || [...own].some((one) => isKin(one, term));
  return ended.some(({ terms: all, topics, isClause, texts, unless = [] }) => {
    if (topics?.test(memory.topic ?? '') === false || texts?.test(memory.text) === false) return false;
    if (unless.length > 0 && unless.every((term) => own.has(term))) return false;
    if (isClause !== true) return all.every(isKnown);
    const stated = value().split(' ').filter(Boolean);
    return stated.length > 0 && stated.every((term) => all.includes(term));
  });
}

/** Whether two stems belong to one word family, such as "teach" and "teacher", «бег» and «бегаю». */
function isKin(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (!long.startsWith(short)) return false;
  const more = long.length - short.length;
  return (short.length >= 4 && more <= 4) || (short.length === 3 && more <= 2 && /^\p{Script=Cyrillic}/u.test(short));
}

type StatedMemory = { readonly text: string; readonly topic: string | null };
const analysed = new WeakMap<StatedMemory, ReadonlySet<string>>();

/** The terms of a memory, which one add compares with the values of all its sentences. */
function termsOf(memory: StatedMemory): ReadonlySet<string> {
  const known = analysed.get(memory);
  if (known !== undefined) return known;
  const terms = new Set(analyse(memory.text));
  analysed.set(memory, terms);
  return terms;
}

type EndingPattern = Pick<EndingWords, 'isWeak' | 'canPass' | 'topics'> & {
  readonly pattern: RegExp;
  /** The value comes first. */
  readonly isSubject?: true;
};
const compiled = new WeakMap<EndingLanguage, readonly EndingPattern[]>();

function patternsOf(language: EndingLanguage): readonly EndingPattern[] {
  const known = compiled.get(language);
  if (known !== undefined) return known;
  const { endings, boundary, ofSpeaker, prepositions, almost, times } = language;
  const word = `(?!(?:${boundary})(?![\\p{L}]))[\\p{L}\\p{N}][\\p{L}\\p{N}'’-]*`;
  const patterns = endings.map(({ before, after, isOfAnySubject, isAtEnd, isApart, ...words }): EndingPattern => {
    const { isWeak } = words;
    const last = isAtEnd === true ? `(?=[\\s.!]*$|[,;:–—]| (?:${times})(?![\\p{L}]))` : '(?![\\p{L}])';
    const end = after === undefined ? '(?![\\p{L}\\p{N}])' : `${isApart ? ',' : ''} (?:${after})${last}`;
    if (before === '') {
      // The value begins its part of the sentence, so it is the subject or the object of the rest.
      const value = `(?<value>(?:(?:${prepositions}) )?${word}(?: ${word}){0,2}?)`;
      return { pattern: new RegExp(`(?<=^|[,.;:!] |[–—-] )${value}${end}`, 'giu'), isSubject: true, ...words };
    }
    const value = `(?:(?:${prepositions}) )?(?<value>${word}(?: ${word}){0,5})`;
    const phrase = `(?<!(?<!\\p{L})(?:${almost}) |n't )(?:${before}) ${value}${end}(?<next> (?:is|are)(?![\\p{L}]))?`;
    // A correction is often about another one: "her name is Ida, not Ada".
    const { source } =
      isWeak === true || isOfAnySubject === true ? new RegExp(`(?<![\\p{L}])${phrase}`, 'u') : ofSpeaker(phrase);
    return { pattern: new RegExp(source, 'giu'), ...words };
  });
  compiled.set(language, patterns);
  return patterns;
}
