import type { endedInClauses } from './clause-endings.ts';
import type { endedValues } from './ended-values.ts';
import type { endedOfTopic } from './named-topics.ts';
import type { endedOfPerson } from './relatives.ts';
import type { renewedValue } from './renewed-values.ts';

/** A statement that a person makes about themselves. */
export type Statement = {
  /** The topic; a later statement about the same topic replaces this one. */
  readonly topic: string;
  /** Stemmed terms of the stated value; equal for equal statements. */
  readonly value: string;
  /** False if the person negates the statement or ends it. */
  readonly holds: boolean;
};

/** A form of statements of one language. The groups `about` and `value` are optional. */
export type StatementForm = {
  readonly pattern: RegExp;
  /** Name of the topic; with `about`, its stemmed terms follow. */
  readonly topic: string;
  /** Whether the value is part of the topic, because a person can like many things. */
  readonly isOpen?: true;
  /** The pattern itself contains the negation. */
  readonly isNegative?: true;
  /** Values without lasting information, such as in "I like that". */
  readonly except?: RegExp;
};

/** A beginning of clauses, and the words that replace it for reading; the fact keeps the words of the speaker. */
export type Paraphrase = readonly [beginning: RegExp, replacement: string];

/** Phrases, the topics that they change, and where not every memory of a topic, the texts of those. */
type ChangePhrases = readonly (readonly [words: RegExp, topics: RegExp, texts?: RegExp])[];

/** A topic that a sentence states to have changed; of its memories only those with such a text. */
export type ChangedTopic = {
  readonly about: RegExp;
  readonly texts?: RegExp | undefined;
  /** Terms of the new value: a memory that states them all is not changed. */
  readonly unless?: readonly string[];
};

export type StatementLanguage = {
  /** Words that mark a value as no longer true. */
  readonly endings: Parameters<typeof endedValues>[0];
  /** Words before a statement that do not belong to it. */
  readonly fillers: RegExp;
  /** Matches a clause that is a wish, a condition, a report of what others said, or a request. */
  readonly notStated: RegExp;
  /** Words that negate a statement; the statement is read without them. */
  readonly negations: readonly (readonly [RegExp, string])[];
  /** Matches a phrase that requests to forget the statement after it. */
  readonly forget: RegExp;
  readonly forms: readonly StatementForm[];
  /**
   * Other wordings for the statements that the forms read; a paraphrase is tried if no form reads the unchanged clause.
   */
  readonly paraphrases: readonly Paraphrase[];
  /** Words without meaning at the end of a clause. */
  readonly tails: readonly RegExp[];
  /** The full spelling of shortened words. A pattern must take time in proportion to the text, whatever a user writes. */
  readonly plain: readonly (readonly [RegExp, string])[];
  /** Places where a question or a request can begin in a sentence without a mark before it. */
  readonly asked: RegExp;
  /** Words that introduce the situation after a change. */
  readonly since: RegExp;
  /** The beginning of a sentence about another person, which states no change of the speaker. */
  readonly others: RegExp;
  /**
   * Phrases that state a change in the speaker's life, and the topics that they change; a single word is never enough.
   */
  readonly changed: ChangePhrases;
  /** Phrases that state a value, and change it beside words for a lasting present. */
  readonly states: ChangePhrases;
  /** Phrases of which another person is the subject, and that change something of the speaker. */
  readonly befalls: ChangePhrases;
  /** Words for an end, wherever they stand in a clause. */
  readonly clauses: Parameters<typeof endedInClauses>[0];
  /** Phrases that name a thing of the speaker and its new value. */
  readonly named: Parameters<typeof endedOfTopic>[0];
  /** Words about people near the speaker that change what is known of them. */
  readonly persons: Parameters<typeof endedOfPerson>[0];
  /** Words around a value that takes the place of another one. */
  readonly renewals: Parameters<typeof renewedValue>[0];
};
