import { setTimeout as pause } from 'node:timers/promises';
import { type AuditChain, auditChainsSchema, auditPageSchema } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import type { ApiAnswer } from './call-api.ts';
import { isPassing } from './is-passing.ts';
import type { ManagementApi } from './management-api.ts';

/** An event of a proof of the audit log; the last one is not `progress`. */
export type ProofEvent =
  | { readonly kind: 'progress'; readonly entries: number; readonly of: number }
  | { readonly kind: 'proved'; readonly entries: number; readonly chains: readonly AuditChain[] }
  | { readonly kind: 'broken'; readonly chain: string; readonly number: number; readonly problem: string }
  | { readonly kind: 'refused'; readonly answer: Exclude<ApiAnswer<unknown>, { kind: 'value' }> };

/** Entries of one request; the API allows no more. */
const pageSize = 500;
const mostAttempts = 3;
/** Requests for one page while the API cannot answer, as beyond the limit of requests, and the pause before each. */
const mostRepeats = 10;
const usualPauseMs = 1_000;

/**
 * Reads every entry, the oldest first, and proves all chains as `portcullis audit verify` does. The chains are read before the
 * entries: those that are added meanwhile are proved too and may be missing. A page that the API cannot answer now is read again.
 */
export async function* proveAuditLog(
  api: Pick<ManagementApi, 'call'>,
  signal: AbortSignal,
  { pauseMs = usualPauseMs }: { readonly pauseMs?: number } = {},
): AsyncGenerator<ProofEvent> {
  async function repeated<T>(read: () => Promise<ApiAnswer<T>>): Promise<ApiAnswer<T>> {
    let answer = await read();
    for (let repeat = 0; repeat < mostRepeats && isPassing(answer) && !signal.aborted; repeat += 1) {
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      answer = await read();
    }
    return answer;
  }
  for (let attempt = 1; ; attempt += 1) {
    const listed = await api.call('/api/v1/audit/chains', auditChainsSchema);
    if (listed.kind !== 'value') return yield { kind: 'refused', answer: listed };
    const chains = listed.value.items;
    const of = chains.reduce((sum, { removed, newest }) => sum + newest.number - removed.number, 0);
    const verifier = createAuditVerifier(chains);
    let entries = 0;
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const query = new URLSearchParams({ order: 'oldest', limit: String(pageSize), ...(cursor && { cursor }) });
      const page = await repeated(() => api.call(`/api/v1/audit?${query}`, auditPageSchema, { signal }));
      if (page.kind !== 'value') return yield { kind: 'refused', answer: page };
      for (const entry of page.value.items) verifier.add(entry);
      entries += page.value.items.length;
      cursor = page.value.nextCursor;
      yield { kind: 'progress', entries, of: Math.max(of, entries) };
    }
    const after = await repeated(() => api.call('/api/v1/audit/chains', auditChainsSchema));
    if (after.kind !== 'value') return yield { kind: 'refused', answer: after };
    // Retention removed entries while they were read, so that the proof starts again.
    const isRemoved = after.value.items.some(
      ({ chain, removed }) => removed.number !== chains.find((one) => one.chain === chain)?.removed.number,
    );
    if (isRemoved && attempt < mostAttempts) continue;
    const [first] = verifier.end();
    return yield first === undefined ? { kind: 'proved', entries, chains } : { kind: 'broken', ...first };
  }
}
