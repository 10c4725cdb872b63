import { disownsNext } from './disowned.ts';
import { isSpeech, quotationsOf } from './quotations.ts';
import { statedPart } from './read-statement.ts';
import { resolveDates } from './resolve-dates.ts';
import { type MessageClause, splitClauses } from './split-clauses.ts';

/** Why a fact that names a quote of a message is not stored. */
export type QuoteFault = 'not said by the user' | 'not stated by the user' | 'not supported by the quote';

type QuotedFact = {
  /** Part of the message, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The text with the dates that its words mean. */
  readonly text: string;
};

type Claimed = {
  readonly text: string;
  readonly quote: string;
  /** Whether the clause is a request, which is not a statement: "Can you forget where I live?" */
  readonly isRequest: boolean;
};

/** Places of a quote that are tried; a short quote can occur often. */
const mostPlaces = 20;

/**
 * Checks a fact that a model states with a quote of a message. The message must contain the quote as whole words, in a
 * sentence that the person states, and the text must be a part of the quote: the same words in the same order, without
 * words that change the meaning. A negation of the sentence must be in the text (docs/design/memory.md, From messages
 * to memories).
 * @param localAt when the message was said; its UTC fields are the calendar of the speaker
 */
export function readQuotedFact(content: string, localAt: Date, claimed: Claimed): QuotedFact | QuoteFault {
  const places = placesOf(content, claimed.quote);
  if (places.length === 0) return 'not said by the user';
  const text = claimed.text.replace(addedDates, '').trim();
  const words = wordsOf(text);
  if (!isPartOf(words, wordsOf(claimed.quote))) return 'not supported by the quote';
  const clauses = splitClauses(content);
  const speeches = quotationsOf(content).filter((part) => isSpeech(content, part));
  let fault: QuoteFault = 'not stated by the user';
  for (const start of places) {
    const end = start + claimed.quote.length;
    const around = clauses.filter((clause) => clause.start < end && clause.end > start);
    if (speeches.some((speech) => speech.start < start && end <= speech.end)) continue;
    if (!around.every((clause) => isSaid(clause, claimed.isRequest))) continue;
    if (around.some((clause) => clause.start < start && disownsNext(content.slice(clause.start, start)))) continue;
    if (!claimed.isRequest && !keepsMeaning(words, around)) {
      fault = 'not supported by the quote';
      continue;
    }
    return { start, end, text: resolveDates(text, localAt) };
  }
  return fault;
}

/** Dates in parentheses, which a model may add; the dates of a memory are computed here instead. */
const addedDates = /\s?\((?:week of )?\d{4}(?:-\d{2}){0,2}\)/g;
const inWord = /[\p{L}\p{M}\p{N}]/u;

/**
 * The places where a message contains the quote as whole words: "I live in Romeo" does not contain "I live in Rome".
 */
function placesOf(content: string, quote: string): readonly number[] {
  const places: number[] = [];
  for (let at = content.indexOf(quote); at >= 0 && places.length < mostPlaces; at = content.indexOf(quote, at + 1)) {
    const isWhole = !joins(content, at) && !joins(content, at + quote.length);
    if (isWhole) places.push(at);
  }
  return places;
}

/** Whether the characters before and after a place belong to one word. */
function joins(content: string, at: number): boolean {
  const before = content.codePointAt(at - (/[\uDC00-\uDFFF]/.test(content.charAt(at - 1)) ? 2 : 1));
  const after = content.codePointAt(at);
  if (before === undefined || after === undefined) return false;
  return inWord.test(String.fromCodePoint(before)) && inWord.test(String.fromCodePoint(after));
}

function isSaid(clause: MessageClause, isRequest: boolean): boolean {
  if (clause.isReported) return false;
  return isRequest || (!clause.isQuestion && statedPart(clause.text) !== undefined);
}

/**
 * Whether a part of a sentence has the meaning of the sentence: the part has the subject and every negation. "live in
 * Rome" does not keep the meaning of "My parents live in Rome", nor does "eat meat" keep that of "I don't eat meat".
 */
function keepsMeaning(words: readonly string[], around: readonly MessageClause[]): boolean {
  const sentence = around.flatMap((clause) => wordsOf(clause.text));
  if (countNegations(sentence) > countNegations(words)) return false;
  const [first = ''] = words;
  if (firstPerson.has(first)) return true;
  return around.some((clause) => {
    const own = wordsOf(statedPart(clause.text) ?? '');
    return words.every((word, at) => at >= own.length || own[at] === word) && own.length > 0;
  });
}

/** Words that a text may leave out, and contractions in full. */
const meaningless = new Set('well oh um uh hm just really actually also honestly ну вот же ведь эм кстати'.split(' '));
const contractions: readonly (readonly [RegExp, string])[] = [
  [/\bcan't\b/g, 'can not'],
  [/\bcannot\b/g, 'can not'],
  [/\bwon't\b/g, 'will not'],
  [/n't\b/g, ' not'],
  [/\bi'?m\b/g, 'i am'],
  [/'re\b/g, ' are'],
  [/'ve\b/g, ' have'],
  [/'s\b/g, ' s'],
];

function wordsOf(text: string): readonly string[] {
  let plain = text.normalize('NFKC').toLowerCase().replaceAll('ё', 'е').replaceAll('’', "'");
  for (const [short, full] of contractions) plain = plain.replace(short, full);
  return plain.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '' && !meaningless.has(word));
}

/** Whether some words occur in others as a sequence; an empty list of words never does. */
function isPartOf(words: readonly string[], others: readonly string[]): boolean {
  return words.length > 0 && others.some((_, from) => words.every((word, at) => others[from + at] === word));
}

const listed = (words: string): ReadonlySet<string> => new Set(words.replaceAll('ё', 'е').split(' '));
/** Words without which a statement has another meaning. */
const negations = listed(
  'not no never nor neither nobody nothing without hardly barely almost nearly anymore longer formerly previously used ' +
    'не нет ни никогда никто ничего без едва почти раньше прежде',
);
/** Words with which a part of a sentence may begin. */
const firstPerson = listed(
  'i my mine me we our us я мы мне меня мной мой моя мое мои моего моей моих моему моим нам нас наш наша наше наши',
);

function countNegations(words: readonly string[]): number {
  return words.filter((word) => negations.has(word)).length;
}
