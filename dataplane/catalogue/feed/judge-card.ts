import { createHash } from 'node:crypto';
import type { StorageGuard } from '#checks/guard/storage-guard';
import type { AgentContent } from '../records/agent-content.ts';
import { cardTexts, withCardTexts } from '../records/card-texts.ts';
import { removed } from '../records/hide-addresses.ts';

type JudgedCard =
  | { readonly kind: 'judged' }
  /** No decision about the card is possible now, and a later attempt may succeed; `code` is the code of the check. */
  | { readonly kind: 'waits'; readonly code: string };

export type CardJudge = {
  /** The record with the texts that the policy allows; undefined while its texts have no decision. */
  shown(content: AgentContent): AgentContent | undefined;
  /**
   * Decides about the texts of a record. If the decisions about all cards are discarded while this decision is made, it
   * is not kept. Rejects only with the reason of an aborted signal.
   */
  judge(content: AgentContent, signal: AbortSignal): Promise<JudgedCard>;
  /** Discards the decisions about the card of a resource; without a name, the decisions about all cards. */
  forget(resource?: string): void;
};

/** A decision about the texts with a digest: replacement texts, or undefined if they are allowed unchanged. */
type Decision = { readonly digest: string; readonly texts: readonly string[] | undefined };

/** The judge of a catalogue without a policy: every card is shown unchanged. */
export const unguardedCards: CardJudge = {
  shown: (content) => content,
  judge: async () => ({ kind: 'judged' }),
  forget: () => undefined,
};

/**
 * Judges the names, descriptions and skills of cards by a served policy before they are stored, because models read
 * them. Masked texts are shown masked. If the policy denies a card, its texts are judged one by one, and the denied
 * texts are replaced: the agent itself stays listed, because the gateway serves it. A decision is kept until the texts
 * or the policy change.
 */
export function createCardJudge(guard: StorageGuard): CardJudge {
  let decisions = new Map<string, Decision>();

  return {
    shown(content) {
      const known = decisions.get(content.resource);
      if (known?.digest !== digestOf(cardTexts(content))) return undefined;
      return known.texts === undefined ? content : withCardTexts(content, known.texts);
    },
    async judge(content, signal) {
      const texts = cardTexts(content);
      const digest = digestOf(texts);
      // The policy may change during the checks: their decision belongs to the policy with which they began.
      const current = decisions;
      if (current.get(content.resource)?.digest === digest) return { kind: 'judged' };
      const allowed = await allowedTexts(texts, signal);
      if (allowed.kind === 'failed') return { kind: 'waits', code: allowed.code };
      const isSame = allowed.texts.every((text, at) => text === texts[at]);
      current.set(content.resource, { digest, texts: isSame ? undefined : allowed.texts });
      return { kind: 'judged' };
    },
    forget(resource) {
      if (resource === undefined) decisions = new Map();
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

function digestOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64');
}
