import type { UserFact } from '../extraction/extract-facts.ts';
import { embedTexts, type TextPorts } from '../facts/memory-text.ts';
import type { PreparedFact } from './commit-event.ts';

/** Adds terms, tokens and vectors to facts. */
export async function prepareFacts(
  ports: TextPorts,
  facts: readonly UserFact[],
  signal: AbortSignal,
): Promise<readonly PreparedFact[]> {
  const texts = facts.map(({ text, statement }) => ({ text, topic: statement?.topic ?? null }));
  const stored = await embedTexts(ports, texts, { signal });
  return facts.flatMap((fact, at) => {
    const text = stored[at];
    return text === undefined ? [] : [{ fact, stored: text }];
  });
}
