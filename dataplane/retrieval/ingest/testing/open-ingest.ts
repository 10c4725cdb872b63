import { createHash, randomUUID } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { Turns } from '#kit/concurrency/turns';
import { countTokens } from '#models/count-tokens';
import { analyse } from '#search/analysis/analyse';
import type { Database } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { DocumentFault } from '../faults.ts';
import { claimJob } from '../jobs/claim-job.ts';
import { stagedBytes } from '../submit/staged-document.ts';
import { type SubmitEntry, submitDocuments } from '../submit/submit-documents.ts';
import { type AttemptEnd, attemptJob } from '../worker/attempt-job.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { memoryObjects } from './memory-objects.ts';
import { scriptedModels, testProfile } from './scripted-models.ts';
import { unwrittenLogger } from './unwritten-logger.ts';

const migrations = new URL('../../migrations/', import.meta.url);
const ownTenant = 'acme';

/** One document as a test submits it; without a text it is a delete. */
type TestDocument = {
  readonly docId: string;
  readonly text?: string;
  readonly key?: string;
  readonly metadata?: Record<string, string>;
  readonly ref?: { readonly uri: string; readonly contentHash: string };
};

export type OpenedIngest = {
  readonly ports: IngestPorts;
  readonly collectionId: string;
  readonly submit: (...documents: readonly TestDocument[]) => Promise<readonly SubmitEntry[]>;
  readonly submitAs: (tenant: string, ...documents: readonly TestDocument[]) => Promise<readonly SubmitEntry[]>;
  /** Claims and processes the next job until the attempt ends; undefined if no job is due. */
  readonly work: () => Promise<AttemptEnd | undefined>;
  /** Processes jobs until none is due. */
  readonly drain: () => Promise<void>;
};

/** Ports of a worker, with parts that a test may replace. */
export function ingestPorts(database: Database, replaced: Partial<IngestPorts> = {}): IngestPorts {
  return {
    database,
    objects: memoryObjects(),
    models: scriptedModels(),
    fetcher: { fetch: () => Promise.reject(new DocumentFault('address_refused', 'no address is allowed')) },
    guard: 'unguarded',
    profileOf: (id) => ({ ...testProfile, id }),
    bounds: { tenantBytes: Number.POSITIVE_INFINITY, indexBytes: undefined },
    analyse,
    countTokens,
    turns: new Turns(),
    onStep: () => undefined,
    hintPrepared: () => undefined,
    onUnavailable: () => undefined,
    ...replaced,
  };
}

/** Opens ingest over a database: a migrated schema, one collection, and parts that a test may replace. */
export async function openIngest(database: Database, replaced: Partial<IngestPorts> = {}): Promise<OpenedIngest> {
  await migrate(database, { schema: 'retrieval', folder: migrations });
  const collectionId = await insertCollection(database);
  const ports = ingestPorts(database, replaced);
  const work = () => workOnce(ports);
  return {
    ports,
    collectionId,
    submit: (...documents) => submitAll(ports, { tenant: ownTenant, collectionId }, documents),
    submitAs: (tenant, ...documents) => submitAll(ports, { tenant, collectionId }, documents),
    work,
    async drain() {
      while ((await work()) !== undefined);
    },
  };
}

export async function insertCollection({ sql }: Database, chunking = { size: 200, overlap: 40 }): Promise<string> {
  const collectionId = randomUUID();
  await sql`
    insert into retrieval.collections (collection_id, tenant, name, collection_type, visibility, acl_model,
      empty_acl_policy, chunk_size, chunk_overlap, embedding_profile_id)
    values (${collectionId}, ${ownTenant}, ${collectionId}, 'documents', 'private', 'document', 'reject', ${chunking.size},
      ${chunking.overlap}, ${testProfile.id})`;
  await sql`
    insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
    values (${collectionId}, 1, ${testProfile.id}, 'active')`;
  return collectionId;
}

export async function workOnce(ports: IngestPorts): Promise<AttemptEnd | undefined> {
  const job = await claimJob(ports.database.sql, 30_000);
  if (job === undefined) return undefined;
  return attemptJob(ports, job, { logger: unwrittenLogger, leaseMs: 30_000, signal: new AbortController().signal });
}

function submitAll(
  { database, objects }: Pick<IngestPorts, 'database' | 'objects'>,
  { tenant, collectionId }: { readonly tenant: string; readonly collectionId: string },
  documents: readonly TestDocument[],
): Promise<readonly SubmitEntry[]> {
  return submitDocuments(
    {
      database,
      objects,
      newId: uuid,
      hint: () => undefined,
      onStep: () => undefined,
      noteDeletions: async () => undefined,
    },
    {
      tenant,
      traceId: 'trace',
      documents: documents.map(({ docId, text, key, metadata, ref }) => ({
        collectionId,
        collection: 'handbook',
        docId,
        op: text === undefined && ref === undefined ? 'delete' : 'upsert',
        contentHash:
          ref?.contentHash ??
          createHash('sha256')
            .update(text ?? '')
            .digest('hex'),
        idempotencyKey: key ?? 'key',
        labels: ['group:acme/staff'],
        payload: payloadOf(text, metadata, ref?.uri),
      })),
    },
  );
}

function payloadOf(text?: string, metadata?: Record<string, string>, uri?: string): Uint8Array | undefined {
  if (uri !== undefined) return stagedBytes({ content_ref: { uri }, metadata });
  return text === undefined ? undefined : stagedBytes({ content: { sections: [{ text }] }, metadata });
}
