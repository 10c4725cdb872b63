import { z } from 'zod';

/**
 * Kinds of text that a binding can add to the texts of the contract, which are always judged: the
 * content and refusals of messages and answers (docs/design/judged-texts.md).
 */
export const judgedTextKinds = ['toolCalls', 'toolDefinitions', 'reasoning', 'names', 'parameters', 'files'] as const;
export type JudgedTextKind = (typeof judgedTextKinds)[number];

const judgedTextKindSchema = z.enum(judgedTextKinds);

/** The kinds as an author writes them; `all` means every kind. */
export const judgeSchema = z
  .array(z.enum([...judgedTextKinds, 'all']))
  .min(1)
  .max(7);

/** The kinds as a route lists them: each once, in the order of `judgedTextKinds`. */
export const judgedKindsSchema = z.array(judgedTextKindSchema).min(1).max(judgedTextKinds.length);

/** The treatment of a request or an answer with text that is not judged. */
export const unjudgedSchema = z.enum(['Forward', 'Refuse']);

/** The treatment of a conversation that exceeds the limits of one check. */
export const longConversationsSchema = z.enum(['Refuse', 'Split']);

/** Replaces `all` by every kind, and removes repetitions. */
export function expandJudge(judge: z.infer<typeof judgeSchema>): readonly JudgedTextKind[] {
  const named = new Set<string>(judge);
  return named.has('all') ? [...judgedTextKinds] : judgedTextKinds.filter((kind) => named.has(kind));
}
