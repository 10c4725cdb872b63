import { embedAll } from '#models/embed-all';
import type { EmbeddingProfile, ModelCall, Models } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import type { MemoryGuard } from './guard-stored.ts';
import type { MemoryText } from './write-memory.ts';

export type TextPorts = {
  readonly models: Models;
  /** Judges every text before it is stored. */
  readonly guard: MemoryGuard;
  /**
   * The embedding profile of this installation; undefined if no profile is approved: memories are then found by words
   * only.
   */
  readonly profile: () => EmbeddingProfile | undefined;
  readonly analyse: (text: string) => readonly string[];
  readonly countTokens: (text: string) => number;
};

/**
 * Texts with their terms, tokens and vectors, in their order.
 * @throws ModelsError: `denied` where the guardrail of the gateway refuses a text
 */
export async function embedTexts(
  { models, profile: profileOf, analyse, countTokens }: TextPorts,
  texts: readonly { readonly text: string; readonly topic: string | null }[],
  call: ModelCall = {},
): Promise<readonly MemoryText[]> {
  const profile = profileOf();
  const all = texts.map(({ text }) => text);
  const vectors =
    profile === undefined || texts.length === 0
      ? []
      : await embedAll(models, { profile, use: 'passage', texts: all }, call);
  return texts.map(({ text, topic }, at) => ({
    text,
    topic,
    tokens: countTokens(text),
    terms: analyse(text),
    vector: vectors[at],
    vectorsKey: profile && vectorsKey(profile),
  }));
}

/** A text without a vector, which is stored while no embedder is available. */
export function unembedded({ analyse, countTokens }: TextPorts, text: string, topic: string | null): MemoryText {
  return { text, topic, tokens: countTokens(text), terms: analyse(text), vector: undefined, vectorsKey: undefined };
}
