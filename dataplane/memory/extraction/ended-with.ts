import { readStatement } from './read-statement.ts';
import { type FactDecision, isStatedAfter, type KnownMemory } from './settle-facts.ts';

/**
 * The memories that end together with the memory of a decision, because they have the same topic. Changes by hand can
 * give two memories one topic; a later statement must leave only one of them. A memory that was stated later is kept.
 * @param decisions all decisions of the add: a memory that another decision names is left to that decision
 */
export function endedWith(
  decision: FactDecision,
  decisions: readonly FactDecision[],
  known: readonly KnownMemory[],
): readonly string[] {
  const topic = wholeTopicOf(decision);
  if (topic === undefined) return [];
  const named = new Set(decisions.flatMap((one) => ('memoryId' in one ? [one.memoryId] : [])));
  const isOther = (memory: KnownMemory): boolean =>
    memory.topic === topic && !named.has(memory.memoryId) && !isStatedAfter(decision.fact, memory);
  const others = known.filter(isOther);
  return others.filter((memory) => isForgotten(decision, memory, known)).map(({ memoryId }) => memoryId);
}

/** The topic of which one memory remains after the decision, or no memory after a request to forget. */
function wholeTopicOf(decision: FactDecision): string | undefined {
  const { statement } = decision.fact;
  switch (decision.kind) {
    case 'ADD':
      return undefined;
    case 'UPDATE':
      return decision.isWholeTopic ? (decision.topic ?? undefined) : undefined;
    case 'DELETE':
      return statement?.topic;
    case 'NONE':
      return decision.reason === 'known' && statement?.holds === true ? statement.topic : undefined;
  }
}

/** A request to forget that names the value of a memory ends only memories of this value. */
function isForgotten(decision: FactDecision, memory: KnownMemory, known: readonly KnownMemory[]): boolean {
  if (decision.kind !== 'DELETE') return true;
  const asked = decision.fact.statement?.value;
  const target = known.find(({ memoryId }) => memoryId === decision.memoryId);
  return statedValue(target) !== asked || statedValue(memory) === asked;
}

function statedValue(memory: KnownMemory | undefined): string | undefined {
  return memory === undefined ? undefined : readStatement(memory.text)?.value;
}
