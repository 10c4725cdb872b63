import type { UserFact } from '../extraction/extract-facts.ts';
import { embedTexts, type TextPorts } from '../facts/memory-text.ts';
import type { PreparedFact } from './commit-event.ts';

/** Facts with terms, tokens and vectors. */
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
