import { setTimeout as pause } from 'node:timers/promises';
import { v7 as uuid } from 'uuid';
import { createLogger } from '#kit/log/logger';
import type { ObjectStore } from '#objects/ports';
import type { HintQueue } from '#queue/ports';
import type { Database } from '#sql/connect';
import { jobHints } from '../../dataplane/retrieval/ingest/role/start-ingest.ts';
import { stagedBytes } from '../../dataplane/retrieval/ingest/submit/staged-document.ts';
import { type SubmittedDocument, submitDocuments } from '../../dataplane/retrieval/ingest/submit/submit-documents.ts';
import { planFollower } from '../support/crash-plan.ts';
import { addressOf, type CrashSubmit, crashDocument } from './crash-documents.ts';
import { type CrashSettings, crashTenant } from './crash-settings.ts';

/** The numbers of accepted submits, each with its job. */
export type AcceptedSubmits = readonly (readonly [n: number, jobId: string])[];

type SubmitParts = { readonly database: Database; readonly objects: ObjectStore; readonly queue: HintQueue };

/** Number of lanes: submits of one document stay in order, and different documents are submitted concurrently. */
const lanes = 6;
const batch = 3;

/**
 * Retries each submit with the same key until the submit is accepted, as a client does. Resolves when all are accepted.
 */
export async function submitLanes(
  { database, objects, queue }: SubmitParts,
  settings: Pick<CrashSettings, 'collectionId' | 'pauseMs' | 'plan' | 'submits'>,
  onAccepted: (accepted: AcceptedSubmits) => void,
): Promise<void> {
  const logger = createLogger({ service: 'crash-submitter', level: 'error' });
  const ports = {
    database,
    objects,
    newId: uuid,
    hint: jobHints({ queue, logger, onQueueAway: () => undefined }),
    onStep: planFollower(settings.plan),
    noteDeletions: async () => undefined,
  };
  async function runLane(own: readonly CrashSubmit[]): Promise<void> {
    for (let at = 0; at < own.length; at += batch) {
      const submits = own.slice(at, at + batch);
      const documents = submits.map((submit) => submittedDocument(settings.collectionId, submit));
      for (let isAccepted = false; !isAccepted; ) {
        try {
          const entries = await submitDocuments(ports, { tenant: crashTenant, traceId: 'crash', documents });
          onAccepted(submits.map(({ n }, i) => [n, entries[i]?.jobId ?? '']));
          isAccepted = true;
          await pause(settings.pauseMs);
        } catch {
          await pause(30);
        }
      }
    }
  }
  const laneOf = ({ docId }: CrashSubmit): number => Number(docId.slice(1)) % lanes;
  await Promise.all(
    Array.from({ length: lanes }, (_, lane) => runLane(settings.submits.filter((one) => laneOf(one) === lane))),
  );
}

function submittedDocument(collectionId: string, submit: CrashSubmit): SubmittedDocument {
  const { op, text, isFetched, contentHash } = crashDocument(submit);
  const content = isFetched ? { content_ref: { uri: addressOf(text) } } : { content: { sections: [{ text }] } };
  return {
    collectionId,
    collection: 'crash',
    docId: submit.docId,
    op,
    contentHash,
    idempotencyKey: String(submit.n),
    labels: [],
    payload: op === 'delete' ? undefined : stagedBytes(content),
  };
}
