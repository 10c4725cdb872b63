import { extractFacts } from '../extract-facts.ts';
import { type FactDecision, type KnownMemory, settleFacts } from '../settle-facts.ts';

type SpokenMessage = { readonly role: string; readonly content: string };

/** The memories after each message of a dialogue, which is added one message at a time. */
export function rememberDialogue(messages: readonly SpokenMessage[]): readonly (readonly string[])[] {
  const memories = new Map<string, KnownMemory>();
  return messages.map(({ role, content }, at) => {
    const saidAt = new Date(Date.UTC(2026, 0, 1, 0, at));
    const facts = extractFacts({ role, content, saidAt }, 0);
    for (const decision of settleFacts(facts, [...memories.values()])) apply(memories, decision);
    return [...memories.values()].map(({ text }) => text);
  });
}

function apply(memories: Map<string, KnownMemory>, decision: FactDecision): void {
  const { fact } = decision;
  const { text, sameness } = fact;
  const statedAt = fact.source.saidAt;
  switch (decision.kind) {
    case 'ADD': {
      const memoryId = `memory-${memories.size + 1}-${sameness.slice(0, 8)}`;
      memories.set(memoryId, { memoryId, text, sameness, topic: fact.statement?.topic ?? null, version: 1, statedAt });
      return;
    }
    case 'UPDATE': {
      const { memoryId, topic } = decision;
      memories.set(memoryId, { memoryId, text, sameness, topic, version: 2, statedAt });
      return;
    }
    case 'DELETE':
      memories.delete(decision.memoryId);
      return;
    case 'NONE':
      return;
  }
}
