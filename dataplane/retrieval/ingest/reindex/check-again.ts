import { randomUUID } from 'node:crypto';
import { insertJobs, lockDocuments } from '../submit/insert-jobs.ts';
import { stagedBytes, stagingKey } from '../submit/staged-document.ts';
import type { CanonicalText } from '../text/canonical-text.ts';
import type { JsonObject } from '../text/document-content.ts';
import { type JudgedDocument, textsOf } from '../text/guarded-texts.ts';
import { storedBlocks } from '../text/stored-blocks.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { judgeDocument } from '../worker/prepare-document.ts';

type StoredText = {
  readonly tenant: string;
  readonly collectionId: string;
  readonly version: number;
  readonly doc: string;
  readonly docId: string;
  readonly seq: string;
  readonly canonical: CanonicalText;
  readonly metadata: JsonObject;
};

/**
 * Judges a stored text by the current policy. If the policy now masks more, the masked text is submitted as a job of
 * its own, because chunks of one sequence number never change.
 * @throws DocumentFault if the policy denies the text, DependencyUnavailableError if it is not judged
 */
export async function checkAgain(
  ports: IngestPorts,
  stored: StoredText,
  signal: AbortSignal,
): Promise<'unchanged' | 'resubmitted'> {
  const before: JudgedDocument = { ...storedBlocks(stored.canonical), metadata: stored.metadata };
  const { document } = await judgeDocument(ports, stored, before, signal);
  const texts = textsOf(document);
  if (textsOf(before).every((text, at) => text === texts[at])) return 'unchanged';
  await resubmit(ports, stored, document);
  return 'resubmitted';
}

async function resubmit(
  { database, objects }: IngestPorts,
  { tenant, collectionId, version, docId, seq }: StoredText,
  { title, blocks, metadata }: JudgedDocument,
): Promise<void> {
  const pages = blocks.map(({ page }) => page ?? 0);
  const payload = stagedBytes({
    content: {
      ...(title === undefined ? {} : { title }),
      sections: blocks.map(({ heading, text }) => ({ ...(heading === undefined ? {} : { heading }), text })),
      ...(pages.every((page) => page > 0) ? { pages } : {}),
    },
    metadata,
  });
  const jobId = randomUUID();
  const key = stagingKey(tenant, jobId);
  await objects.put(key, payload);
  const document = {
    collectionId,
    collection: collectionId,
    docId,
    op: 'upsert',
    contentHash: `reindex-${version}`,
    idempotencyKey: `reindex-${version}-${seq}`,
  } as const;
  const isSubmitted = await database.sql.begin(async (sql) => {
    const { stateOf, jobs } = await lockDocuments(sql, tenant, [document]);
    const state = stateOf(document);
    // A newer job exists and is judged itself, or an earlier claim of the reindex has submitted the text.
    if (String(state.lastSeq) !== seq || jobs.length > 0) return false;
    const next = { ...state, lastSeq: state.lastSeq + 1 };
    const staged = { key, uri: objects.uriOf(key), bytes: payload.byteLength };
    const [now] = await sql<{ labels: string[] }[]>`select labels from retrieval.documents where doc = ${state.doc}`;
    const submitted = { ...document, labels: now?.labels ?? [] };
    const record = { jobId, doc: state.doc, seq: next.lastSeq, epoch: state.opEpoch, document: submitted, staged };
    await insertJobs(sql, { tenant, traceId: jobId }, [record], [next]);
    return true;
  });
  if (!isSubmitted) await objects.delete(key);
}
