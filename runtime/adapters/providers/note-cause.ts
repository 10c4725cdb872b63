import type { ProviderCause } from '#contracts/provider-causes';
import type { Question, Verdict } from '../../rules/compiled-section.ts';

type Ask = (question: Question, signal: AbortSignal) => Promise<Verdict>;
/** Receives the cause of each failed call, and undefined for each call that was answered. */
export type NoteProvider = (cause: ProviderCause | undefined) => void;

/**
 * A call that adds the cause to its verdict. If the caller ended the call, the result says nothing about the provider.
 */
export function noteCause(ask: Ask, note: NoteProvider): Ask {
  return async (question, signal) => {
    const verdict = await ask(question, signal);
    const isLate = signal.aborted && signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
    if (signal.aborted && !isLate) return verdict;
    const cause = isLate ? 'timeout' : causeOf(verdict);
    note(cause);
    return verdict.kind === 'failed' && cause !== undefined ? { ...verdict, cause } : verdict;
  };
}

/**
 * The cause of a failed call; undefined if the provider answered, because an uncertain verdict or a refusal is an
 * answer, too.
 */
function causeOf(verdict: Verdict): ProviderCause | undefined {
  if (verdict.kind !== 'failed') return undefined;
  return verdict.cause ?? (verdict.code === 'provider_invalid_answer' ? 'invalid_answer' : undefined);
}
