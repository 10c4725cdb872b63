import { analyse } from '#search/analysis/analyse';
import { type EndedValue, hasEnded } from './ended-values.ts';
import type { UserFact } from './extract-facts.ts';
import type { QuoteFault } from './quoted-fact.ts';
import { readStatement } from './read-statement.ts';
import { isOfKind, type RenewedValue, renewalFit } from './renewed-values.ts';
import type { ChangedTopic } from './statement.ts';

/** A known memory of the scope of the add. */
export type KnownMemory = {
  readonly memoryId: string;
  readonly text: string;
  readonly sameness: string;
  readonly topic: string | null;
  /** The version of the memory, which each change of the text increments. */
  readonly version: number;
  /** When the person last stated the memory. */
  readonly statedAt: Date;
};

/** A memory of the scope that was deleted or has expired. */
export type PastMemory = Pick<KnownMemory, 'sameness' | 'topic' | 'statedAt'>;

/** The decision about a fact, and its reason. */
export type FactDecision =
  | { readonly kind: 'ADD'; readonly fact: UserFact; readonly reason: 'new' }
  | {
      readonly kind: 'UPDATE';
      readonly fact: UserFact;
      readonly memoryId: string;
      /** The topic of the memory after the update. */
      readonly topic: string | null;
      /** Whether other memories of the topic end together with this one (`endedWith`). */
      readonly isWholeTopic: boolean;
      readonly reason: 'replaces';
    }
  | {
      readonly kind: 'DELETE';
      readonly fact: UserFact;
      readonly memoryId: string;
      readonly reason: 'asked to forget' | 'no longer so';
    }
  | {
      readonly kind: 'NONE';
      readonly fact: UserFact;
      readonly memoryId: string | null;
      readonly reason:
        | 'known'
        | 'repeated in this add'
        | 'nothing to forget'
        | 'no longer so, and not known'
        | 'changes nothing known'
        | 'older than the known fact'
        | 'older than the deleted fact'
        | 'not important'
        | QuoteFault;
    };

/**
 * Decides about the facts of one add in their order, against the memories of its scope. A repetition adds nothing, a
 * contradiction replaces the contradicted memory, and a request to forget deletes it. At most one decision changes a
 * memory: if one add states several facts about one topic, the last fact counts. An earlier statement never changes a
 * memory that was stated later (docs/decisions/0080).
 */
export function settleFacts(
  facts: readonly UserFact[],
  known: readonly KnownMemory[],
  past: readonly PastMemory[] = [],
): readonly FactDecision[] {
  const last = new Map(facts.map((fact, at) => [subjectOf(fact), at]));
  const decisions = facts.map((fact, at): FactDecision => {
    if (fact.changes !== undefined) return none(fact, 'changes nothing known');
    if (last.get(subjectOf(fact)) !== at) return none(fact, 'repeated in this add');
    return settleFact(fact, known, past);
  });
  const comparisons = { left: mostComparisons };
  for (const [at, { changes }] of facts.entries()) {
    if (changes !== undefined) settleChange(decisions, at, { ...changes, comparisons }, known);
  }
  return decisions;
}

/** The renewals of one add are compared with at most this many memories in all; later renewals change nothing. */
export const mostComparisons = 50_000;
type Comparisons = { left: number };

/** The subject of a fact. Facts of one add with the same subject exclude each other; the last fact counts. */
function subjectOf({ statement, sameness, text, isGiven }: UserFact): string {
  return isGiven === true ? text : (statement?.topic ?? sameness);
}

/** Whether a memory was stated after a fact was said. */
export function isStatedAfter({ source }: UserFact, { statedAt }: Pick<KnownMemory, 'statedAt'>): boolean {
  return statedAt > source.saidAt;
}

/** Whether a fact belongs to a memory that ended, or a later message about its topic has ended it. */
function hasPassed(fact: UserFact, past: readonly PastMemory[]): boolean {
  return past.some(({ sameness, topic, statedAt }) => {
    if (sameness === fact.sameness) return statedAt >= fact.source.saidAt;
    return topic !== null && topic === fact.statement?.topic && statedAt > fact.source.saidAt;
  });
}

function none(fact: UserFact, reason: Extract<FactDecision, { kind: 'NONE' }>['reason']): FactDecision {
  return { kind: 'NONE', fact, memoryId: null, reason };
}

/**
 * Decides about a sentence that states a change. The sentence replaces the known memory of its topic, or the memory
 * whose value it ends or renews: by the statement in the sentence, or by the whole sentence.
 */
function settleChange(
  decisions: FactDecision[],
  at: number,
  { topics, ended, renewed, comparisons }: NonNullable<UserFact['changes']> & { readonly comparisons: Comparisons },
  known: readonly KnownMemory[],
): void {
  const fact = (decisions[at] as FactDecision).fact;
  const same = known.find(({ sameness }) => sameness === fact.sameness);
  if (same !== undefined) {
    // The known memory already contains the statements of this sentence.
    for (const [place, one] of decisions.entries()) {
      if (one.kind !== 'ADD' || !isWithin(one.fact, fact)) continue;
      decisions[place] = { kind: 'NONE', fact: one.fact, memoryId: same.memoryId, reason: 'known' };
    }
    return;
  }
  if (ended.length > 0 && settleEnded(decisions, at, ended, known)) return;
  if (topics.length > 0 && settleTopics(decisions, at, topics, known)) return;
  if (renewed !== undefined) settleRenewed(decisions, at, { renewed, comparisons }, known);
}

/**
 * Replaces the memory of a topic that changed according to a sentence.
 * @returns whether such a memory exists, or a statement of the same sentence has already settled the change
 */
function settleTopics(
  decisions: FactDecision[],
  at: number,
  topics: readonly ChangedTopic[],
  known: readonly KnownMemory[],
): boolean {
  const fact = (decisions[at] as FactDecision).fact;
  const isChanged = ({ topic, text }: StatedText): boolean =>
    topics.some(({ about, texts, unless = [] }) => {
      if (!about.test(topic ?? '') || texts?.test(text) === false) return false;
      return unless.length === 0 || !hasAllTerms(text, unless);
    });
  const isAbout = ({ statement }: UserFact): boolean =>
    statement !== undefined && topics.some(({ about }) => about.test(statement.topic));
  const siblings = [...decisions.entries()].filter(([, one]) => isWithin(one.fact, fact) && isAbout(one.fact));
  if (siblings.length > 0 && siblings.some(([, { kind }]) => kind !== 'ADD')) return true;
  const targets = changeable(decisions, fact, known).filter(isChanged);
  if (isAmbiguous(targets)) return false;
  const isWhole = (one: FactDecision): boolean =>
    one.kind === 'ADD' && isWithin(one.fact, fact) && hasTextOf(one.fact, fact);
  const whole = decisions.findIndex(isWhole);
  const place = siblings.find(([, { kind }]) => kind === 'ADD')?.[0] ?? (whole < 0 ? at : whole);
  return replaceAt(decisions, { at, place }, targets[0], (one) => isAbout(one.fact) && isChanged(statedBy(one.fact)));
}

/** The memories that a sentence may change: no other decision is about them, and they were not stated later. */
function changeable(
  decisions: readonly FactDecision[],
  fact: UserFact,
  known: readonly KnownMemory[],
): readonly KnownMemory[] {
  const touched = new Set(decisions.flatMap((one) => ('memoryId' in one ? [one.memoryId] : [])));
  return known.filter(
    (memory) => memory.topic !== null && !touched.has(memory.memoryId) && !isStatedAfter(fact, memory),
  );
}

/**
 * Replaces a memory by the fact at a place; if no such memory exists, a fact that the same add stated before is
 * replaced.
 * @returns whether something was replaced
 */
function replaceAt(
  decisions: FactDecision[],
  { at, place }: { readonly at: number; readonly place: number },
  target: KnownMemory | undefined,
  isReplaced: (one: FactDecision) => boolean,
): boolean {
  const sentence = (decisions[at] as FactDecision).fact;
  const stated = (decisions[place] as FactDecision).fact;
  if (target !== undefined) {
    const topic = stated.statement?.topic ?? target.topic;
    const { memoryId } = target;
    decisions[place] = { kind: 'UPDATE', fact: stated, memoryId, topic, isWholeTopic: true, reason: 'replaces' };
    return true;
  }
  const earlier = decisions.findIndex((one) => one.kind === 'ADD' && isBefore(one.fact, sentence) && isReplaced(one));
  if (earlier < 0) return false;
  decisions[earlier] = none((decisions[earlier] as FactDecision).fact, 'repeated in this add');
  decisions[place] = { kind: 'ADD', fact: stated, reason: 'new' };
  return true;
}

/** Replaces the memory that fits a renewed value best; if two fit equally well, the sentence changes nothing. */
function settleRenewed(
  decisions: FactDecision[],
  at: number,
  { renewed, comparisons }: { readonly renewed: RenewedValue; readonly comparisons: Comparisons },
  known: readonly KnownMemory[],
): void {
  const { fact } = decisions[at] as FactDecision;
  const own = [...decisions.entries()].filter(([place, one]) => place !== at && isWithin(one.fact, fact));
  // A statement of the same sentence has settled the change, or is known.
  if (own.some(([, one]) => one.kind !== 'ADD' && (one.kind !== 'NONE' || one.reason === 'known'))) return;
  comparisons.left -= known.length;
  if (comparisons.left < 0) return;
  const fits = changeable(decisions, fact, known)
    .map((memory) => ({ memory, fit: renewalFit(renewed, memory) }))
    .filter(({ fit }) => fit > 0)
    .toSorted((one, other) => other.fit - one.fit);
  const [best, second] = fits;
  if (best !== undefined && best.fit === second?.fit) return;
  // Another statement of the sentence, such as "and I love cats", is not a new value of the memory.
  const isNew = (one: UserFact): boolean => one.statement?.holds === true && isOfKind(renewed, statedBy(one));
  const added = own.filter(([, one]) => one.kind === 'ADD');
  const place =
    (added.find(([, one]) => isNew(one.fact)) ?? added.find(([, one]) => hasTextOf(one.fact, fact)))?.[0] ?? at;
  replaceAt(decisions, { at, place }, best?.memory, ({ fact: one }) => {
    return one.statement !== undefined && renewalFit(renewed, statedBy(one)) > 0;
  });
}

type StatedText = Pick<KnownMemory, 'text' | 'topic'>;
const statedTexts = new WeakMap<UserFact, StatedText>();

/**
 * A fact as the memory that it becomes. It is always the same object, because its values are read once (`renewalFit`).
 */
function statedBy(fact: UserFact): StatedText {
  const stated = statedTexts.get(fact) ?? { text: fact.text, topic: fact.statement?.topic ?? null };
  statedTexts.set(fact, stated);
  return stated;
}

/**
 * Replaces the memory of a value that is no longer valid according to a sentence, by the other statement of the
 * sentence or by the whole sentence. If another memory already has that statement, the memory is deleted.
 * @returns whether such a memory exists
 */
function settleEnded(
  decisions: FactDecision[],
  at: number,
  ended: readonly EndedValue[],
  known: readonly KnownMemory[],
): boolean {
  const sentence = (decisions[at] as FactDecision).fact;
  // A value that the sentence repeats has not ended: "I'm from Norway, came over as a kid".
  const isKept = (one: FactDecision): boolean =>
    one.kind === 'NONE' ? one.reason === 'known' && isWithin(one.fact, sentence) : one.kind !== 'ADD';
  const kept = new Set(decisions.flatMap((one) => ('memoryId' in one && isKept(one) ? [one.memoryId] : [])));
  const isTarget = (memory: KnownMemory): boolean =>
    memory.topic !== null &&
    !kept.has(memory.memoryId) &&
    !isStatedAfter(sentence, memory) &&
    hasEnded(ended, memory, () => statedValueOf(memory));
  const targets = known.filter(isTarget);
  const [target] = targets;
  // "My number has changed", said by a person with a phone number and a locker number.
  if (target === undefined || isAmbiguous(targets)) return false;
  const isOther = (one: FactDecision): boolean =>
    one.kind === 'NONE' && one.reason === 'known' && one.memoryId !== target.memoryId && isWithin(one.fact, sentence);
  if (decisions.some((one) => isOther(one) && one.fact.statement?.holds === true)) {
    decisions[at] = { kind: 'DELETE', fact: sentence, memoryId: target.memoryId, reason: 'no longer so' };
    return true;
  }
  const own = [...decisions.entries()].filter(([, one]) => one.kind === 'ADD' && isWithin(one.fact, sentence));
  const kindOf = (topic: string | null | undefined): string | undefined => topic?.split(': ')[0];
  const isAbout = ({ statement }: UserFact): boolean => kindOf(statement?.topic) === kindOf(target.topic);
  const ofKind = own.filter(([, one]) => isAbout(one.fact));
  const whole = own.find(([, one]) => hasTextOf(one.fact, sentence));
  const place = (ofKind.find(([, { fact }]) => fact.statement?.holds === true) ?? ofKind[0] ?? whole)?.[0] ?? at;
  const { fact } = decisions[place] as FactDecision;
  const topic = fact.statement?.topic ?? target.topic;
  const isWholeTopic = fact.statement?.holds === true;
  decisions[place] = { kind: 'UPDATE', fact, memoryId: target.memoryId, topic, isWholeTopic, reason: 'replaces' };
  return true;
}

/** The terms of the value that a memory states; a topic such as "taste: beer" contains its value. */
function statedValueOf({ text, topic }: KnownMemory): string {
  const value = readStatement(text)?.value ?? '';
  return value === '' ? (topic?.split(': ')[1] ?? '') : value;
}

function hasAllTerms(text: string, terms: readonly string[]): boolean {
  const own = new Set(analyse(text));
  return terms.every((term) => own.has(term));
}

/**
 * Whether a change can refer to several of the memories: "I gave that language up", said by a person who learns two.
 */
function isAmbiguous(targets: readonly KnownMemory[]): boolean {
  const topics = new Set(targets.map(({ topic }) => topic ?? ''));
  const kinds = new Set([...topics].map((topic) => topic.split(': ')[0]));
  return kinds.size < topics.size;
}

function isBefore({ source: one }: UserFact, { source: other }: UserFact): boolean {
  if (one.saidAt.getTime() !== other.saidAt.getTime()) return one.saidAt < other.saidAt;
  return one.message < other.message || (one.message === other.message && one.end <= other.start);
}

/** A statement that is the whole sentence would become a second memory with the same text as the changed memory. */
function hasTextOf(one: UserFact, sentence: UserFact): boolean {
  return one.text === sentence.text;
}

function isWithin({ source }: UserFact, { source: sentence }: UserFact): boolean {
  return source.message === sentence.message && source.start >= sentence.start && source.start < sentence.end;
}

function settleFact(fact: UserFact, known: readonly KnownMemory[], past: readonly PastMemory[]): FactDecision {
  const { statement } = fact;
  // Changes by hand can give several memories one topic.
  const ofTopic = statement === undefined ? [] : known.filter(({ topic }) => topic === statement.topic);
  const later = ofTopic.find((memory) => isStatedAfter(fact, memory));
  const about = fact.isForgotten === true ? ofTopic.filter((memory) => !isStatedAfter(fact, memory)) : ofTopic;
  const stated = about.map((memory) => ({ memory, before: readStatement(memory.text) }));
  const equal = stated.find(({ before }) => before?.value === statement?.value && before !== undefined);
  const [first] = about;
  if (fact.isForgotten === true) {
    const memoryId = equal?.memory.memoryId ?? first?.memoryId;
    if (memoryId === undefined && later !== undefined) return older(fact, later);
    if (memoryId === undefined) return { kind: 'NONE', fact, memoryId: null, reason: 'nothing to forget' };
    return { kind: 'DELETE', fact, memoryId, reason: 'asked to forget' };
  }
  const same = known.find(
    ({ sameness, text }) => sameness === fact.sameness && (fact.isGiven !== true || text === fact.text),
  );
  if (same !== undefined) return { kind: 'NONE', fact, memoryId: same.memoryId, reason: 'known' };
  if (statement !== undefined && equal?.before?.holds === statement.holds) {
    return { kind: 'NONE', fact, memoryId: equal.memory.memoryId, reason: 'known' };
  }
  if (later !== undefined) return older(fact, later);
  if (fact.isGiven !== true && hasPassed(fact, past)) return none(fact, 'older than the deleted fact');
  if (first === undefined || statement === undefined) return { kind: 'ADD', fact, reason: 'new' };
  const { topic } = first;
  const isWholeTopic = statement.holds;
  const update = ({ memoryId }: KnownMemory) =>
    ({ kind: 'UPDATE', fact, memoryId, topic, isWholeTopic, reason: 'replaces' }) as const;
  if (statement.holds) return update(first);
  const ended =
    stated.find(({ before }) => before?.holds === true && isPartOf(statement.value, before.value)) ??
    stated.find(({ before }) => before?.holds !== true);
  if (ended !== undefined) return update(ended.memory);
  return { kind: 'NONE', fact, memoryId: first.memoryId, reason: 'no longer so, and not known' };
}

function older(fact: UserFact, { memoryId }: KnownMemory): FactDecision {
  return { kind: 'NONE', fact, memoryId, reason: 'older than the known fact' };
}

/**
 * Whether every term of one value occurs in another: "I no longer live in Berlin" is about "I live in Berlin with my
 * wife".
 */
function isPartOf(value: string, whole: string): boolean {
  const terms = new Set(whole.split(' '));
  return value.split(' ').every((term) => terms.has(term));
}
