import type { JsonValue } from '#kit/json/json-value';
import { guardMemoryTexts, guardValue, type MemoryGuard } from '../facts/guard-stored.ts';
import type { ClaimedEvent } from './claim-event.ts';
import { isStorable } from './storable-message.ts';

/**
 * The event after the guardrail has judged every text that can be stored: messages that are read, metadata and
 * categories. This happens before facts are extracted, so that a model sees masked text, too. Offsets of a source refer
 * to the masked message.
 * @throws StoredTextError
 */
export async function guardEvent(guard: MemoryGuard, event: ClaimedEvent, signal: AbortSignal): Promise<ClaimedEvent> {
  if (guard === 'unguarded') return event;
  const places = event.messages.flatMap((message, at) => (isStorable(message, event.infer) ? [at] : []));
  const read = places.map((at) => event.messages[at]?.content ?? '');
  const judged = await guardMemoryTexts(guard, read, signal);
  const contents = new Map(places.map((at, place) => [at, judged[place] ?? '']));
  const messages = event.messages.map((message, at) => ({ ...message, content: contents.get(at) ?? message.content }));
  const given: readonly JsonValue[] = [event.metadata as JsonValue, [...event.categories]];
  const [metadata, categories] = await guardValue(guard, [...given], signal);
  return { ...event, messages, metadata: metadata as ClaimedEvent['metadata'], categories: categories as string[] };
}
