import type { SaidMessage, UserFact } from '../extraction/extract-facts.ts';
import { readForgotten, readStatement } from '../extraction/read-statement.ts';
import { samenessOf } from '../extraction/sameness.ts';
import { guardMemoryTexts } from '../facts/guard-stored.ts';
import { embedTexts, type TextPorts } from '../facts/memory-text.ts';
import type { MemoryText } from '../facts/write-memory.ts';

/** A fact with all data that are stored with its memory. */
export type PreparedFact = { readonly fact: UserFact; readonly stored: MemoryText };

/**
 * Adds terms, tokens and vectors to facts. A text that is not part of a judged message, such as a text with an added
 * date, is judged first.
 * @param messages the messages of the event, which were judged
 * @throws StoredTextError, ModelsError
 */
export async function prepareFacts(
  ports: TextPorts,
  found: readonly UserFact[],
  messages: readonly SaidMessage[],
  { signal, traceparent }: { readonly signal: AbortSignal; readonly traceparent: string },
): Promise<readonly PreparedFact[]> {
  const isJudged = ({ text, source }: UserFact): boolean => messages[source.message]?.content.includes(text) === true;
  const others = found.filter((fact) => !isJudged(fact));
  const judged = await guardMemoryTexts(
    ports.guard,
    others.map(({ text }) => text),
    signal,
  );
  const masked = new Map(others.map((fact, at) => [fact, judged[at] ?? '']));
  const facts = found.map((fact) => withText(fact, masked.get(fact) ?? fact.text));
  const texts = facts.map(({ text, statement }) => ({ text, topic: statement?.topic ?? null }));
  const stored = await embedTexts(ports, texts, { signal, traceparent });
  return facts.flatMap((fact, at) => {
    const text = stored[at];
    return text === undefined ? [] : [{ fact, stored: text }];
  });
}

/** The fact with a masked text: its topic and sameness are computed from the masked text, because both are stored. */
function withText(fact: UserFact, text: string): UserFact {
  if (text === fact.text) return fact;
  const { statement: _, ...rest } = fact;
  const statement = fact.isForgotten === true ? readForgotten(text) : readStatement(text);
  return { ...rest, text, sameness: samenessOf(text), ...(statement === undefined ? {} : { statement }) };
}
