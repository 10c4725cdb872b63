import type { UserFact } from '../extraction/extract-facts.ts';
import { readForgotten, readStatement } from '../extraction/read-statement.ts';
import {
  type FactDecision,
  isStatedAfter,
  type KnownMemory,
  type PastMemory,
  settleFacts,
} from '../extraction/settle-facts.ts';
import { ChangedMemoryError } from './event-fault.ts';
import type { ModelFact } from './model-answer.ts';

type NoneReason = Extract<FactDecision, { kind: 'NONE' }>['reason'];

/** A fact of the answer, or the reason why it is not stored. */
export type ReadFact = { readonly answer: ModelFact; readonly fact: UserFact; readonly fault: NoneReason | undefined };

/** A memory as the model saw it. */
export type SeenMemory = Pick<KnownMemory, 'memoryId' | 'text' | 'version'>;

/** The memories of the scope at the time of the decision. */
type Memories = { readonly present: readonly KnownMemory[]; readonly past: readonly PastMemory[] };

/**
 * Decides about the facts of a model in the order in which they were said, and returns the decisions in the order of
 * the facts. Of several facts that exclude each other the last one is stored, as without a model (docs/decisions/0080).
 * @throws ChangedMemoryError
 */
export function decideByModel(
  read: readonly ReadFact[],
  seen: readonly SeenMemory[],
  { present, past }: Memories,
): readonly FactDecision[] {
  /** The changed memories, with the topic of the fact that changes them. */
  const used = new Map<string, string | undefined>();
  const added = new Set<string>();
  const deleted = new Set<string>();
  const seenBy = ({ answer }: ReadFact) => (answer.memory === null ? undefined : seen[answer.memory]);
  const decisions = new Map<ReadFact, FactDecision>();
  for (const one of read.toSorted(compareSaid)) decisions.set(one, decide(one));
  return read.map((one) => decisions.get(one) as FactDecision);

  function decide(one: ReadFact): FactDecision {
    const { answer, fact, fault } = one;
    const none = (reason: NoneReason, memoryId: string | null = null) =>
      ({ kind: 'NONE', fact, memoryId, reason }) as const;
    const topic = fact.statement?.topic;
    const isOther = (memoryId: string): boolean =>
      used.has(memoryId) && topic !== undefined && used.get(memoryId) !== undefined && used.get(memoryId) !== topic;
    /** The rules for extraction without a model decide: a fact about a known topic replaces the known fact. */
    const settled = (): FactDecision => {
      const left = present.filter(({ memoryId }) => !deleted.has(memoryId) && !isOther(memoryId));
      const [decision = none('known')] = settleFacts([fact], left, past);
      const key = decision.kind === 'UPDATE' ? decision.memoryId : fact.sameness;
      if (decision.kind === 'NONE') return decision;
      // A model may state a fact twice in one answer.
      if (added.has(key) || used.has(key)) return none('repeated in this add', 'memoryId' in decision ? key : null);
      if (decision.kind === 'UPDATE') used.set(key, topic);
      else added.add(key);
      return decision;
    };
    if (fault !== undefined) return none(fault);
    const isSaidBefore = (other: ReadFact): boolean => other.fault === undefined && compareSaid(one, other) < 0;
    if (read.some((other) => isSaidBefore(other) && excludes(other, one))) return none('repeated in this add');
    const referred = seenBy(one);
    const same = present.find(({ sameness, memoryId }) => sameness === fact.sameness && !deleted.has(memoryId));
    const current = present.find(({ memoryId }) => memoryId === referred?.memoryId);
    const hasChanged = referred !== undefined && current?.version !== referred.version;
    if (answer.decision === 'NONE') {
      // The fact is known from a memory that no longer states it: a later attempt decides again.
      if (hasChanged && same === undefined) throw new ChangedMemoryError();
      return none('known', same?.memoryId ?? referred?.memoryId ?? null);
    }
    if (answer.decision !== 'DELETE' && same !== undefined) return none('known', same.memoryId);
    if (answer.decision === 'ADD') return settled();
    if (referred === undefined) return answer.decision === 'DELETE' ? none('nothing to forget') : settled();
    if (answer.decision === 'UPDATE' && isOther(referred.memoryId)) return settled();
    if (used.has(referred.memoryId)) return none('repeated in this add', referred.memoryId);
    if (hasChanged || current === undefined) throw new ChangedMemoryError();
    if (isStatedAfter(fact, current)) return none('older than the known fact', current.memoryId);
    used.set(referred.memoryId, answer.decision === 'DELETE' ? undefined : topic);
    if (answer.decision === 'DELETE') {
      deleted.add(referred.memoryId);
      return { kind: 'DELETE', fact, memoryId: referred.memoryId, reason: 'asked to forget' };
    }
    return {
      kind: 'UPDATE',
      fact,
      memoryId: referred.memoryId,
      topic: topic ?? null,
      isWholeTopic: fact.statement?.holds === true,
      reason: 'replaces',
    };
  }

  /** Whether a fact replaces another fact that was said before it. */
  function excludes(later: ReadFact, earlier: ReadFact): boolean {
    if (later.answer.decision === 'DELETE') return earlier.answer.decision !== 'DELETE' && isForgotten(earlier, later);
    if (earlier.answer.decision === 'DELETE') {
      return later.answer.decision === 'UPDATE' && isOfOneMemory(earlier, later);
    }
    if (later.answer.decision === 'NONE' && !isKnown(later)) return false;
    if (earlier.fact.sameness === later.fact.sameness) return true;
    const [before, after] = [earlier.fact.statement, later.fact.statement];
    if (before === undefined || after === undefined) return isOfOneMemory(earlier, later);
    if (before.topic !== after.topic) return false;
    // "I live in Oslo. I no longer live in Rome." leaves Oslo.
    return after.holds || !before.holds || before.value === after.value;
  }

  /** Whether a request to forget refers to an earlier fact, and not to the fact that replaces it. */
  function isForgotten(earlier: ReadFact, request: ReadFact): boolean {
    const stated = earlier.fact.statement;
    const asked = readForgotten(request.fact.text);
    if (asked !== undefined && asked.topic === stated?.topic) return asked.value === '' || asked.value === stated.value;
    const target = seenBy(request);
    const replaced = target && readStatement(target.text);
    if (asked !== undefined && asked.value !== '' && asked.value === replaced?.value) return false;
    // For the earlier fact, the model may name a memory of another topic; the fact then counts as new.
    const about = asked?.topic ?? replaced?.topic;
    if (about !== undefined && stated !== undefined && about !== stated.topic) return false;
    return isOfOneMemory(earlier, request);
  }

  /** Whether a memory states the fact that the model calls known. */
  function isKnown({ fact: { sameness, statement } }: ReadFact): boolean {
    return present.some((memory) => {
      if (memory.sameness === sameness) return true;
      return memory.topic === statement?.topic && readStatement(memory.text)?.value === statement?.value;
    });
  }

  function isOfOneMemory(one: ReadFact, other: ReadFact): boolean {
    const memoryId = memoryOf(one);
    return memoryId !== undefined && memoryId === memoryOf(other);
  }

  /** The memory that a fact changes or repeats. */
  function memoryOf(one: ReadFact): string | undefined {
    const { answer, fact } = one;
    const referred = answer.decision === 'UPDATE' || answer.decision === 'DELETE' ? seenBy(one)?.memoryId : undefined;
    if (referred !== undefined) return referred;
    const same = present.find(({ sameness }) => sameness === fact.sameness);
    return (same ?? present.find(({ topic }) => topic !== null && topic === fact.statement?.topic))?.memoryId;
  }
}

/**
 * Compares the order in which facts were said; facts at the same place are equal, so that the first of them in the
 * answer is preferred.
 */
function compareSaid({ fact: { source: one } }: ReadFact, { fact: { source: other } }: ReadFact): number {
  return one.saidAt.getTime() - other.saidAt.getTime() || one.message - other.message || one.start - other.start;
}
