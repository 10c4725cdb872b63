// A submitter of the crash tests: retries each submit with the same key until it is accepted, as a client does.
import { setTimeout as pause } from 'node:timers/promises';
import { v7 as uuid } from 'uuid';
import { createLogger } from '#kit/log/logger';
import { createFolderObjects } from '#objects/adapters/folder/folder-objects';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import { jobHints } from '../../dataplane/retrieval/ingest/role/start-ingest.ts';
import { stagedBytes } from '../../dataplane/retrieval/ingest/submit/staged-document.ts';
import { type SubmittedDocument, submitDocuments } from '../../dataplane/retrieval/ingest/submit/submit-documents.ts';
import { endWithParent, planFollower } from '../support/crash-plan.ts';
import { addressOf, type CrashSubmit, crashDocument } from './crash-documents.ts';
import { crashSettings, crashTenant, openCrashDatabase } from './crash-settings.ts';

const settings = crashSettings();
endWithParent();
const database = openCrashDatabase(settings, 'crash-submitter');
const logger = createLogger({ service: 'crash-submitter', level: 'error' });
const ports = {
  database,
  objects: createFolderObjects(settings.objectsFolder),
  newId: uuid,
  hint: jobHints(createPostgresQueue(database), logger),
  onStep: planFollower(settings.plan),
};

/** Submits of one document stay in order; different documents are submitted concurrently. */
const lanes = 6;
const batch = 3;

function submittedDocument(submit: CrashSubmit): SubmittedDocument {
  const { op, text, isFetched, contentHash } = crashDocument(submit);
  const content = isFetched ? { content_ref: { uri: addressOf(text) } } : { content: { sections: [{ text }] } };
  return {
    collectionId: settings.collectionId,
    collection: 'crash',
    docId: submit.docId,
    op,
    contentHash,
    idempotencyKey: String(submit.n),
    labels: [],
    payload: op === 'delete' ? undefined : stagedBytes(content),
  };
}

async function runLane(own: readonly CrashSubmit[]): Promise<void> {
  for (let at = 0; at < own.length; at += batch) {
    const submits = own.slice(at, at + batch);
    const documents = submits.map(submittedDocument);
    for (let isAccepted = false; !isAccepted; ) {
      try {
        const entries = await submitDocuments(ports, { tenant: crashTenant, traceId: 'crash', documents });
        process.stdout.write(`${JSON.stringify({ accepted: submits.map(({ n }, i) => [n, entries[i]?.jobId]) })}\n`);
        isAccepted = true;
        await pause(settings.pauseMs);
      } catch {
        await pause(30);
      }
    }
  }
}

process.stdout.write(`${JSON.stringify({ listening: 'submits' })}\n`);
const laneOf = ({ docId }: CrashSubmit): number => Number(docId.slice(1)) % lanes;
await Promise.all(
  Array.from({ length: lanes }, (_, lane) => runLane(settings.submits.filter((one) => laneOf(one) === lane))),
);
process.stdout.write(`${JSON.stringify({ ended: true })}\n`);
process.exit(0);
