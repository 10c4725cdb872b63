import type { EndedValue } from './ended-values.ts';
import { maskSpeech } from './quotations.ts';
import { readChange, readForgotten, readLaterStatement, readStatement } from './read-statement.ts';
import type { RenewedValue } from './renewed-values.ts';
import { resolveDates } from './resolve-dates.ts';
import { samenessOf } from './sameness.ts';
import { splitClauses } from './split-clauses.ts';
import type { ChangedTopic, Statement } from './statement.ts';

/** A message of an event, with the time at which it was said. */
export type SaidMessage = {
  readonly role: string;
  readonly content: string;
  readonly saidAt: Date;
  /** The time of the message in the calendar of the speaker, in its UTC fields; absent if the speaker uses UTC. */
  readonly localAt?: Date;
};

/** The place where a fact was stated: the message of the event, and UTF-16 offsets in it. */
export type FactSource = {
  readonly message: number;
  readonly start: number;
  readonly end: number;
  readonly saidAt: Date;
};

/** A fact that a person stated and that may be remembered. */
export type UserFact = {
  readonly text: string;
  readonly sameness: string;
  readonly role: string;
  readonly source: FactSource;
  /** The parts of the sentence; absent for a text that is stored as it was sent. */
  readonly statement?: Statement;
  /** The topics that changed according to the sentence, the values that are no longer valid, and their replacements. */
  readonly changes?: {
    readonly topics: readonly ChangedTopic[];
    readonly ended: readonly EndedValue[];
    readonly renewed: RenewedValue | undefined;
  };
  /** The text is stored as it was given, without extraction: only exactly the same text repeats it. */
  readonly isGiven?: true;
  /** The person requests to forget the statement. */
  readonly isForgotten?: true;
};

const longestFact = 1_000;

/**
 * The statements of the user about themselves in a message, in their order (memory:add:fact-extracted). Messages of the
 * assistant, of tools and of the system are never read: they contain recalled memories, not statements of the user.
 * @param message its position in the add
 */
export function extractFacts(said: SaidMessage, message: number): readonly UserFact[] {
  const { role, content, saidAt, localAt = saidAt } = said;
  if (role !== 'user') return [];
  const clauses = splitClauses(content);
  const stated = clauses.flatMap(({ text, start, end, isQuestion, isReported }) => {
    if (isQuestion || isReported || text.length > longestFact) return [];
    const forgotten = readForgotten(text);
    const statement = forgotten ?? readStatement(text);
    if (statement === undefined) return [];
    const resolved = resolveDates(text, localAt);
    const source = { message, start, end, saidAt };
    const fact = { text: resolved, sameness: samenessOf(text), role, source, statement };
    return [forgotten === undefined ? fact : { ...fact, isForgotten: true as const }];
  });
  const later = laterStatementsOf(said, message, stated);
  const all = [...stated, ...later];
  return [...all, ...changesOf(said, message, all)];
}

type Sentence = { readonly raw: string; readonly start: number; readonly isQuestion: boolean };

/** The sentences that the speaker states at least in part, without words of others in them. */
function sentencesOf(content: string): readonly Sentence[] {
  const masked = maskSpeech(content);
  const own = splitClauses(content).filter(({ isReported }) => !isReported);
  const sentences = new Map(own.map((clause) => [clause.sentence.start, clause]));
  return [...sentences.values()].map(({ sentence: { start, end }, isQuestion }) => {
    return { raw: masked.slice(start, end), start, isQuestion };
  });
}

/** A question of at most so many words names what the next sentence is about: "Sushi? Not my thing any more". */
const longestTopic = 3;

/** The sentences, each with the short question before it as its beginning. */
function sentencesWithTopics(content: string): readonly Sentence[] {
  const masked = maskSpeech(content);
  return sentencesOf(content).map((sentence, at, all) => {
    const topic = all[at - 1];
    if (topic?.isQuestion !== true || sentence.isQuestion) return sentence;
    if (topic.raw.trim().split(/\s+/).length > longestTopic) return sentence;
    const raw = masked.slice(topic.start, sentence.start + sentence.raw.length).replace('?', ',');
    return { raw, start: topic.start, isQuestion: false };
  });
}

/** Statements in the middle of sentences of which no clause states a fact. */
function laterStatementsOf(
  { role, content, saidAt, localAt = saidAt }: SaidMessage,
  message: number,
  stated: readonly UserFact[],
): readonly UserFact[] {
  return sentencesOf(content).flatMap(({ raw, start, isQuestion }): readonly UserFact[] => {
    const isPositive = ({ statement, source }: UserFact): boolean =>
      statement?.holds === true && isInside(source, start, raw);
    if (stated.some(isPositive)) return [];
    const later = readLaterStatement(`${raw.trimEnd()}${isQuestion ? '?' : ''}`);
    const isKnown = stated.some(({ source }) => later !== undefined && source.start === start + later.at);
    if (later === undefined || isKnown) return [];
    const { at } = later;
    const { statement, text } = firstClauseOf(later);
    const source = { message, start: start + at, end: start + at + text.length, saidAt };
    const said = content.slice(source.start, source.end);
    return [{ text: resolveDates(said, localAt), sameness: samenessOf(said), role, source, statement }];
  });
}

type ReadText = { readonly statement: Statement; readonly text: string };

/**
 * The first clause, if it is a complete statement: repeating the clause in a later message then gives the same fact.
 */
function firstClauseOf({ statement, text }: ReadText): ReadText {
  const [clause] = splitClauses(text);
  const alone = clause?.start === 0 && clause.end < text.length ? readStatement(clause.text) : undefined;
  if (clause === undefined || alone?.holds !== true) return { statement, text };
  return { statement: alone, text: clause.text };
}

function isInside({ start, end }: FactSource, from: number, raw: string): boolean {
  return start >= from && end <= from + raw.length;
}

/** The sentences that state a change, each as a whole: "I switched my major, it's chemistry now". */
function changesOf(
  { role, content, saidAt, localAt = saidAt }: SaidMessage,
  message: number,
  stated: readonly UserFact[],
): readonly UserFact[] {
  return sentencesWithTopics(content).flatMap(({ raw, start: from, isQuestion }) => {
    const saysMore = stated.some(({ source }) => isInside(source, from, raw));
    const change = readChange(`${raw.trim()}${isQuestion ? '?' : ''}`, saysMore);
    if (change === undefined) return [];
    const { text, topics, ended, renewed } = change;
    const start = from + raw.indexOf(text);
    const source = { message, start, end: start + text.length, saidAt };
    const changes = { topics, ended, renewed };
    const said = content.slice(source.start, source.end);
    return [{ text: resolveDates(said, localAt), sameness: samenessOf(said), role, source, changes }];
  });
}
