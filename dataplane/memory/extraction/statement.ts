/** What a person says about themselves. */
export type Statement = {
  /** What the statement is about; a later statement about the same replaces it. */
  readonly topic: string;
  /** Stemmed terms of what is said about it; equal for statements that say the same. */
  readonly value: string;
  /** False where the person says that something is not or no longer so. */
  readonly holds: boolean;
};

/** A form of statements of one language. The groups `about` and `value` are optional. */
export type StatementForm = {
  readonly pattern: RegExp;
  /** Name of the topic; with `about`, its stemmed terms follow. */
  readonly topic: string;
  /** Whether the value is part of the topic: a person can like many things. */
  readonly isOpen?: true;
  /** The pattern itself says that something is not so. */
  readonly isNegative?: true;
  /** Values that say nothing lasting, such as "I like that". */
  readonly except?: RegExp;
};

export type StatementLanguage = {
  /** Words before a statement that do not belong to it. */
  readonly fillers: RegExp;
  /** A clause that is a wish, a condition, a report of what others said, or a request. */
  readonly notStated: RegExp;
  /** Words that negate a statement; the statement is read without them. */
  readonly negations: readonly (readonly [RegExp, string])[];
  /** A request to forget a statement, which follows. */
  readonly forget: RegExp;
  readonly forms: readonly StatementForm[];
  /** Words at the end of a clause that say nothing, and the spelling of words that people shorten. */
  readonly plain: readonly (readonly [RegExp, string])[];
  /** Where a question or a request can begin in a sentence that has no mark before it. */
  readonly asked: RegExp;
  /** Words that say how it is after a change. */
  readonly since: RegExp;
  /** The beginning of a sentence about somebody else, which says no change of the speaker. */
  readonly others: RegExp;
  /** Phrases that say a change of the speaker's own life, and the topics that they change; no word alone is one. */
  readonly changed: readonly (readonly [words: RegExp, topics: RegExp])[];
};
