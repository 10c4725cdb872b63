import { createHash } from 'node:crypto';
import type { StorageGuard } from '#checks/guard/storage-guard';
import type { AgentContent } from '../records/agent-content.ts';
import { cardTexts, withCardTexts } from '../records/card-texts.ts';
import { removed } from '../records/safe-text.ts';

type JudgedCard =
  /** The record with the texts that the policy allows; `isNew` if a check was sent for this decision. */
  | { readonly kind: 'judged'; readonly content: AgentContent; readonly isNew: boolean }
  /** There is no decision now, and a later attempt may succeed; `code` is that of the check. */
  | { readonly kind: 'waits'; readonly code: string };

export type CardJudge = {
  /** Rejects with the reason of the signal when it is aborted, else never. */
  judge(content: AgentContent, signal: AbortSignal): Promise<JudgedCard>;
  /** Decisions about the card of a resource are no longer needed; about all cards without one. */
  forget(resource?: string): void;
};

/** A decision about the texts with a digest: other texts in their place, or undefined if they are allowed as they are. */
type Decision = { readonly digest: string; readonly texts: readonly string[] | undefined };

/** The judge of a catalogue without a policy: every card is shown as it is. */
export const unguardedCards: CardJudge = {
  judge: async (content) => ({ kind: 'judged', content, isNew: false }),
  forget: () => undefined,
};

/**
 * Judges the names, descriptions and skills of cards by a served policy before they are stored, because models read them.
 * Masked texts are shown masked. If the policy denies a card, its texts are judged one by one, and those that are denied are
 * replaced: the agent itself stays, because the gateway serves it. A decision is kept until the texts or the policy change.
 */
export function createCardJudge(guard: StorageGuard): CardJudge {
  const decisions = new Map<string, Decision>();

  return {
    async judge(content, signal) {
      const texts = cardTexts(content);
      const digest = createHash('sha256').update(JSON.stringify(texts)).digest('base64');
      const known = decisions.get(content.resource);
      if (known?.digest === digest) return { kind: 'judged', content: shown(content, known), isNew: false };
      const allowed = await allowedTexts(texts, signal);
      if (allowed.kind === 'failed') return { kind: 'waits', code: allowed.code };
      const isSame = allowed.texts.every((text, at) => text === texts[at]);
      const decision = { digest, texts: isSame ? undefined : allowed.texts };
      decisions.set(content.resource, decision);
      return { kind: 'judged', content: shown(content, decision), isNew: true };
    },
    forget(resource) {
      if (resource === undefined) decisions.clear();
      else decisions.delete(resource);
    },
  };

  async function allowedTexts(texts: readonly string[], signal: AbortSignal) {
    const all = await guard.judge(texts, signal);
    if (all.kind === 'passed' || all.kind === 'failed') return all;
    const allowed: string[] = [];
    for (const text of texts) {
      const one = await guard.judge([text], signal);
      if (one.kind === 'failed') return one;
      allowed.push(one.kind === 'passed' ? (one.texts[0] ?? removed) : removed);
    }
    return { kind: 'passed', texts: allowed } as const;
  }
}

function shown(content: AgentContent, { texts }: Decision): AgentContent {
  return texts === undefined ? content : withCardTexts(content, texts);
}
