import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';
import type { Note } from '../../access/change-author.ts';
import { decideSubmit, type JobIdentity } from './decide-submit.ts';
import { findDuplicates } from './find-duplicates.ts';
import { insertJobs, type JobRecord, lockDocuments, type StagedObject } from './insert-jobs.ts';
import { stagingKey } from './staged-document.ts';

/** A validated document whose submitter may write to the collection that it names. */
export type SubmittedDocument = JobIdentity & {
  /** The collection as the submitter named it. */
  readonly collection: string;
  /** Labels of the callers that may see the document. */
  readonly labels: readonly string[];
  /** The result of `stagedBytes`; undefined for a delete. */
  readonly payload: Uint8Array | undefined;
};

type SubmitRequest = {
  readonly tenant: string;
  readonly traceId: string;
  readonly documents: readonly SubmittedDocument[];
};

/** One entry of the answer; the entries have the order of the documents (`retrieval:submit:entry-fields`). */
export type SubmitEntry = {
  readonly docId: string;
  readonly jobId: string;
  readonly status: 'PENDING' | 'DEDUPLICATED';
  /** For a repeated job: whether a later job of its document was accepted. */
  readonly isSuperseded: boolean;
};

type SubmitPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly newId: () => string;
  /**
   * Notifies workers of new jobs. This function must not throw: reconciliation finds the jobs of a missed notification.
   */
  readonly hint: () => void;
  /** Called after the payloads are staged and after the jobs are registered. */
  readonly onStep: (step: SubmitStep) => void | Promise<void>;
  readonly noteDeletions: Note<readonly AcceptedDeletion[]>;
};

/** A document, identified by its number, and the job that deletes it. */
export type AcceptedDeletion = { readonly doc: string; readonly jobId: string };

type SubmitStep = 'staged' | 'registered';

/** Number of concurrent uploads of one submit. */
const puts = 8;

/**
 * Accepts a batch as a whole or not at all: stages the payloads, then registers the jobs in one transaction. A document
 * that repeats an earlier job is not staged and gets the id of that job. A staged object whose transaction did not
 * commit is collected later.
 * @throws ObjectsUnavailableError, SqlUnavailableError: the caller may repeat the submit
 */
export async function submitDocuments(ports: SubmitPorts, request: SubmitRequest): Promise<readonly SubmitEntry[]> {
  const { documents } = request;
  const ids = documents.map(() => ports.newId());
  const repeated = await findDuplicates(ports.database.sql, documents);
  const staged = await stage(ports, request, ids, (at) => !repeated.has(at));
  await ports.onStep('staged');
  let records = await register(ports, request, ids, staged);
  if (records === 'unstaged') {
    // A job with another op was accepted meanwhile, so that a document no longer repeats an earlier job.
    const rest = await stage(ports, request, ids, (at) => !staged.has(at));
    records = await register(ports, request, ids, new Map([...staged, ...rest]));
  }
  if (records === 'unstaged') throw new Error('a staged document is missing');
  await ports.onStep('registered');
  if (records.some(({ status }) => status === 'PENDING')) ports.hint();
  return records;
}

async function stage(
  { objects }: SubmitPorts,
  { tenant, documents }: SubmitRequest,
  ids: readonly string[],
  isWanted: (at: number) => boolean,
): Promise<ReadonlyMap<number, StagedObject>> {
  const staged = new Map<number, StagedObject>();
  const pending = [...documents.keys()].filter((at) => documents[at]?.payload !== undefined && isWanted(at));
  const putNext = async (): Promise<void> => {
    for (let at = pending.shift(); at !== undefined; at = pending.shift()) {
      const payload = documents[at]?.payload as Uint8Array;
      const key = stagingKey(tenant, ids[at] as string);
      try {
        await objects.put(key, payload);
      } catch (error) {
        // This failure is the answer to the submit: staging the other documents would only keep their texts in memory.
        pending.length = 0;
        throw error;
      }
      staged.set(at, { key, uri: objects.uriOf(key), bytes: payload.byteLength });
    }
  };
  await Promise.all(Array.from({ length: puts }, putNext));
  return staged;
}

async function register(
  { database, objects, noteDeletions }: SubmitPorts,
  { tenant, traceId, documents }: SubmitRequest,
  ids: readonly string[],
  staged: ReadonlyMap<number, StagedObject>,
): Promise<readonly SubmitEntry[] | 'unstaged'> {
  const records = await database.sql.begin(async (sql): Promise<readonly SubmitEntry[] | 'unstaged'> => {
    const { stateOf, jobs } = await lockDocuments(sql, tenant, documents);
    const { decisions, states } = decideSubmit(documents, stateOf, jobs, ids);
    const accepted: JobRecord[] = [];
    for (const [at, decision] of decisions.entries()) {
      const document = documents[at] as SubmittedDocument;
      if (decision.kind === 'duplicate') continue;
      if (document.payload !== undefined && !staged.has(at)) return 'unstaged';
      accepted.push({ ...decision, document, staged: staged.get(at) });
    }
    await insertJobs(sql, { tenant, traceId }, accepted, states);
    const deletions = accepted.filter(({ document }) => document.op === 'delete');
    const named = deletions.map(({ document, jobId }) => ({ doc: stateOf(document).doc, jobId }));
    if (named.length > 0) await noteDeletions(sql, named);
    return decisions.map((decision, at) => ({
      docId: (documents[at] as SubmittedDocument).docId,
      jobId: decision.jobId,
      status: decision.kind === 'accept' ? 'PENDING' : 'DEDUPLICATED',
      isSuperseded: decision.kind === 'duplicate' && decision.isSuperseded,
    }));
  });
  if (records === 'unstaged') return records;
  const unused = [...staged].filter(([at]) => records[at]?.status === 'DEDUPLICATED');
  // An object that cannot be deleted now is collected later, because no job refers to it.
  await Promise.all(unused.map(([, { key }]) => objects.delete(key).catch(() => undefined)));
  return records;
}
