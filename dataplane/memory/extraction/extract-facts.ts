import { readChange, readForgotten, readStatement } from './read-statement.ts';
import { resolveDates } from './resolve-dates.ts';
import { samenessOf } from './sameness.ts';
import { splitClauses } from './split-clauses.ts';
import type { Statement } from './statement.ts';

/** A message of an event, with the time at which it was said. */
export type SaidMessage = { readonly role: string; readonly content: string; readonly saidAt: Date };

/** Where a fact was stated: the message of the event, and UTF-16 offsets in it. */
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
  /** Undefined if the text is kept as given. */
  readonly statement?: Statement;
  /** The topics that the sentence states to have changed. */
  readonly changes?: readonly RegExp[];
  /** The person asks to forget the statement. */
  readonly isForgotten?: true;
};

const longestFact = 1_000;

/**
 * The statements of the user about themselves in a message, in their order (memory:add:fact-extracted). Messages of the
 * assistant, of tools and of the system are never read: they contain recalled memories, not statements of the user.
 * @param message its position in the add
 */
export function extractFacts({ role, content, saidAt }: SaidMessage, message: number): readonly UserFact[] {
  if (role !== 'user') return [];
  const clauses = splitClauses(content);
  const stated = clauses.flatMap(({ text, start, end, isQuestion }) => {
    if (isQuestion || text.length > longestFact) return [];
    const forgotten = readForgotten(text);
    const statement = forgotten ?? readStatement(text);
    if (statement === undefined) return [];
    const resolved = resolveDates(text, saidAt);
    const source = { message, start, end, saidAt };
    const fact = { text: resolved, sameness: samenessOf(text), role, source, statement };
    return [forgotten === undefined ? fact : { ...fact, isForgotten: true as const }];
  });
  return [...stated, ...changesOf({ role, content, saidAt }, message)];
}

/** The sentences that state a change, each as a whole: "I switched my major, it's chemistry now". */
function changesOf({ role, content, saidAt }: SaidMessage, message: number): readonly UserFact[] {
  const sentences = new Map(splitClauses(content).map((clause) => [clause.sentence.start, clause]));
  return [...sentences.values()].flatMap(({ sentence, isQuestion }) => {
    const raw = content.slice(sentence.start, sentence.end);
    const change = readChange(`${raw.trim()}${isQuestion ? '?' : ''}`);
    if (change === undefined) return [];
    const { text, topics: changes } = change;
    const start = sentence.start + raw.indexOf(text);
    const source = { message, start, end: start + text.length, saidAt };
    return [{ text: resolveDates(text, saidAt), sameness: samenessOf(text), role, source, changes }];
  });
}
