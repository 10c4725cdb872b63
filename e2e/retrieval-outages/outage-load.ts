import { setTimeout as pause } from 'node:timers/promises';
import { crashDocument } from '../retrieval-crashes/crash-documents.ts';
import { crashTenant } from '../retrieval-crashes/crash-settings.ts';
import { callService, callUntilDone } from './call-service.ts';
import type { OutageWorld } from './outage-world.ts';

/** Number of documents of the searched collection, and its name. */
const searchedDocuments = 10;
export const searched = 'searched';
const acl = { groups: ['staff'] };

/**
 * Submits the numbers 1 to `submits` to the collection `crash`, in parallel lanes of documents. Adds each job to
 * `accepted` by the number of its submit.
 */
export async function submitAll(
  world: OutageWorld,
  { submits, documents }: { readonly submits: number; readonly documents: number },
  accepted: Map<number, string>,
): Promise<void> {
  const lanes = 6;
  const runLane = async (lane: number): Promise<void> => {
    for (let n = 1; n <= submits; n += 1) {
      if ((n % documents) % lanes !== lane) continue;
      const docId = `d${n % documents}`;
      const { op, text, contentHash } = crashDocument({ docId, n });
      const content = op === 'delete' ? {} : { content: { sections: [{ text }] } };
      const identity = { collection: 'crash', tenant_id: crashTenant, doc_id: docId, op, acl };
      const document = { ...identity, ...content, content_hash: contentHash, idempotency_key: String(n) };
      const { jobs } = await callUntilDone(world, '/v1/documents:submit', { documents: [document] });
      accepted.set(n, (jobs as readonly { readonly job_id: string }[])[0]?.job_id ?? '');
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)));
}

/** Submits one state of each document of the searched collection. */
export async function submitSearched(world: OutageWorld, n: number): Promise<void> {
  const documents = Array.from({ length: searchedDocuments }, (_, at) => ({
    collection: searched,
    tenant_id: crashTenant,
    doc_id: `s${at}`,
    content: { sections: [{ text: searchedText(n) }] },
    acl,
    content_hash: `${n}`,
    idempotency_key: `${n}`,
  }));
  await callUntilDone(world, '/v1/documents:submit', { documents });
}

function searchedText(n: number): string {
  return Array.from({ length: 9 }, (_, at) => `Harbour state ${n} part ${at}.`).join(' ');
}

export type SearchCounts = {
  answers: number;
  refused: number;
  incomplete: number;
  mixed: number;
  first: string | undefined;
};

/**
 * Searches until the signal is aborted: every answer must contain each document exactly once, complete and in one
 * state.
 */
export async function searchAll(world: OutageWorld, signal: AbortSignal, counts: SearchCounts): Promise<void> {
  while (!signal.aborted) {
    const body = {
      collection: searched,
      text: 'harbour',
      mode: counts.answers % 2 === 0 ? 'bm25' : 'hybrid',
      top_k: 100,
    };
    const answer = await callService(world, '/v1/query', body);
    if (answer?.status === 200) {
      counts.answers += 1;
      const fault = faultOf(answer.json['items'] as readonly Item[]);
      if (fault !== undefined) {
        counts[fault] += 1;
        counts.first ??= `${fault}: ${JSON.stringify(answer.json['items']).slice(0, 1_500)}`;
      }
    } else counts.refused += 1;
    await pause(20);
  }
}

type Item = { readonly doc_id: string; readonly content: string; readonly start: number; readonly end: number };

function faultOf(items: readonly Item[]): 'incomplete' | 'mixed' | undefined {
  const byDocument = Map.groupBy(items, ({ doc_id }) => doc_id);
  if (byDocument.size !== searchedDocuments) return 'incomplete';
  for (const chunks of byDocument.values()) {
    const states = new Set(chunks.flatMap(({ content }) => [...content.matchAll(/state (\d+) /g)].map(([, n]) => n)));
    const starts = new Set(chunks.map(({ start }) => start));
    if (states.size !== 1 || starts.size !== chunks.length) return 'mixed';
    let reached = 0;
    for (const { start, end } of chunks.toSorted((a, b) => a.start - b.start)) {
      if (start > reached) return 'incomplete';
      reached = end;
    }
    if (reached !== searchedText(Number([...states][0])).length) return 'incomplete';
  }
  return undefined;
}
