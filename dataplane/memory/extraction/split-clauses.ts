import { disownsBefore, disownsItself } from './disowned.ts';
import { endsWithTag, isTagQuestion, questionAfterStatement } from './questions.ts';
import { isSpeech, maskSpeech, quotationsOf } from './quotations.ts';
import { reportedClauses } from './reported-clauses.ts';

/** A part of a message with its place, in UTF-16 units. */
export type MessageClause = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The sentence is a question or is retracted: its writer does not state it. */
  readonly isQuestion: boolean;
  /** The clause belongs to others: it is quoted, or it is next to a verb of saying with another subject. */
  readonly isReported: boolean;
  /** The sentence that the clause belongs to. */
  readonly sentence: Place;
};

type Place = { readonly start: number; readonly end: number };
type Sentence = Place & { readonly isQuestion: boolean };

// Users write the texts. Each pattern takes time in proportion to the text, because it begins only at the first
// character of a run of marks or blanks; the end of a clause is found without a pattern.
/**
 * Ends of sentences: marks before white space, line breaks, and replacements of marks in chats: emoticons, laughter and
 * abbreviations that comment on a sentence. A mark inside a number or an address does not end a sentence.
 */
const sentenceEnds =
  /(?<=\s)(?:[:;=][-']?[)(DP3]+|x+D+|\^+_*\^+|<3|\){2,})\)*(?=[\s.!…]|$)|(?<=\s)(?:a?(?:ha){2,}h?|(?:he){2,}h?|lo+l|lmao|rofl|tbh|imh?o|ngl|а?(?:ха){2,}х?|а?хах\p{L}*|ахах\p{L}*|(?:хе)+х?|лол|имхо|кмк)(?=[\s.!…]|$)|(?<![.!?…])[.!?…]+(?=["'’“»”)]*(?:\s|$))["'’“»”)]*|[\n\r]+|;\s/giu;
/** A second statement about the speaker in the same sentence. */
const joints =
  /(?:,|(?<![\s,]))\s+(?:and|but|while|а|и|но|а также|и ещё)\s+(?=(?:I|I'm|I’m|my|я|мой|моя|моё|мои|мне|меня|у меня)(?:\s|['’]))|,\s*(?=(?:I|I'm|I’m|my|я|мой|моя|моё|мои|мне|меня|у меня)(?:\s|['’])|(?:said|says|сказал[аи]?|говорит|пишет)\s)/giu;
const listMark = /^[\s\-–—*•>\d.)#:"'«“„‘]+(?=\p{L})/u;
const trailingMarks = new Set(',:"»”“*');
/** The score after a memory in a list that a search printed: "I like tea (0.98)". */
const printedScore = /\s*\((?:score[ :=]{0,2})?[01]\.\d{1,6}\)$/i;
const longestScore = 20;

/**
 * The clauses of a message in their order, without a preceding list mark or quotation mark. Marks inside of quoted
 * speech do not end a sentence.
 */
export function splitClauses(text: string): readonly MessageClause[] {
  const quotations = quotationsOf(text);
  const masked = maskSpeech(text, quotations);
  const spoken = quotations.map((part) => ({ ...part, isSpeech: isSpeech(text, part) }));
  let next = 0;
  const isQuoted = ({ start, end }: Place): boolean => {
    while (next < spoken.length && (spoken[next]?.end ?? 0) <= start) next += 1;
    const part = spoken[next];
    return part !== undefined && part.start <= start && (part.isSpeech || end <= part.end);
  };
  return sentencesOf(masked).flatMap((sentence) => {
    const clauses = dividedIn(masked, sentence).flatMap(([start, end]) => clauseOf(text, start, end) ?? []);
    const reported = reportedClauses(clauses.map((clause) => clause.text));
    return clauses.map((clause, at) => {
      const isReported = reported.has(at) || isQuoted(clause);
      const { start, end, isQuestion } = sentence;
      return { ...clause, isQuestion, isReported, sentence: { start, end } };
    });
  });
}

function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let from = 0;
  /** The place of the last sentence that has words. */
  let written = -1;
  const take = (end: number, isAsked: boolean): void => {
    const content = text.slice(from, end);
    const before = sentences[written];
    if (before !== undefined && (isTagQuestion(content) || disownsBefore(content)))
      sentences[written] = { ...before, isQuestion: true };
    if (content.trim() !== '') written = sentences.length;
    const question = isAsked ? questionAfterStatement(content) : undefined;
    if (question === undefined) {
      sentences.push({ start: from, end, isQuestion: isAsked || endsWithTag(content) || disownsItself(content) });
      return;
    }
    sentences.push({ start: from, end: from + question.from, isQuestion: false });
    sentences.push({ start: from + question.to, end, isQuestion: true });
  };
  for (const { 0: mark, index } of text.matchAll(sentenceEnds)) {
    take(index, mark.includes('?'));
    from = index + mark.length;
  }
  take(text.length, false);
  return sentences;
}

function dividedIn(text: string, { start: from, end }: Place): readonly (readonly [number, number])[] {
  const sentence = text.slice(from, end);
  const parts: (readonly [number, number])[] = [];
  let start = 0;
  for (const { 0: joint, index } of sentence.matchAll(joints)) {
    parts.push([from + start, from + index]);
    start = index + joint.length;
  }
  parts.push([from + start, end]);
  return parts;
}

const openingMarks: Readonly<Record<string, string>> = { '»': '«', '”': '“' };

/** A longer clause is not read: its marks do not matter, and looking for each of many takes time. */
const longestClause = 300;

/** Whether the last mark ends a quotation that began in the same text: my band is called «Кино». */
function closesQuotation(text: string): boolean {
  if (text.length > longestClause) return false;
  const mark = text.at(-1) ?? '';
  const before = text.slice(0, -1);
  if (mark === '"') return (before.match(/"/g) ?? []).length % 2 === 1;
  const opening = openingMarks[mark];
  return opening !== undefined && before.lastIndexOf(opening) > before.lastIndexOf(mark);
}

function clauseOf(text: string, start: number, end: number): Pick<MessageClause, 'text' | 'start' | 'end'> | undefined {
  const raw = text.slice(start, end);
  const marked = listMark.exec(raw)?.[0].length ?? raw.length - raw.trimStart().length;
  let stop = raw.trimEnd().length;
  stop -= printedScore.exec(raw.slice(Math.max(marked, stop - longestScore), stop))?.[0].length ?? 0;
  while (stop > marked && trailingMarks.has(raw.charAt(stop - 1)) && !closesQuotation(raw.slice(marked, stop)))
    stop -= 1;
  if (stop <= marked) return undefined;
  return { text: raw.slice(marked, stop), start: start + marked, end: start + stop };
}
