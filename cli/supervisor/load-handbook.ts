import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import { findDocuments } from '../documents/find-documents.ts';
import { openDocumentReader } from '../documents/read-document.ts';
import { awaitJobs, type FileResult, submitFiles } from '../documents/submit-files.ts';
import { describeError } from '../errors/describe-error.ts';
import { callerIdentity, defaultTenant } from '../http/caller-options.ts';
import { examplePerson } from '../platform/administrators.ts';
import { checkout } from '../platform/data-directory.ts';
import { createRetrievalClient, type RetrievalClient } from '../retrieval/retrieval-client.ts';
import { offlineProfile } from './platform-processes.ts';

const collection = 'handbook';
/** A folder of examples/handbook for each group, and the member of the group that README.md names. */
const readers = [
  { group: 'staff', person: 'bob' },
  { group: 'board', person: 'eve' },
] as const;
const requestMs = 10_000;
const jobsMs = 30_000;

/**
 * Loads the example collection at the first start with retrieval: members of the groups staff and board find different
 * documents in it. The collection is not loaded again, so that a user can change or delete it. A failed load is retried
 * at the next start; the platform runs without it.
 * @param retrieval origin of the retrieval service, which accepts the names of callers
 * @returns whether the example was loaded now
 */
export async function loadHandbook(
  data: DataDirectory,
  retrieval: string,
  say: (sentence: string) => void,
): Promise<boolean> {
  if (existsSync(data.handbook)) return false;
  say(`loading the example collection ${collection}`);
  const begun = performance.now();
  try {
    const identity = callerIdentity({ as: examplePerson, tenant: defaultTenant });
    const client = createRetrievalClient({ origin: retrieval, identity, timeoutMs: requestMs });
    await ensureCollection(client);
    const results = await submitExamples(client);
    const open = results.filter(({ state }) => state !== 'done' && state !== 'unchanged');
    if (open.length > 0) {
      const reasons = open.map(({ docId, state, reason }) => `${docId} is ${reason ?? state}`).join(', ');
      say(`the example collection is not complete and is loaded again at the next start: ${reasons}`);
      return false;
    }
    await writeAtomic(data.handbook, Buffer.from(`${new Date().toISOString()}\n`));
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    say(`${collection} has ${results.length} documents, for bob of the staff and eve of the board (${seconds} s)`);
    return true;
  } catch (error) {
    say(`the example collection is loaded again at the next start: ${describeError(error).message}`);
    return false;
  }
}

async function ensureCollection(client: RetrievalClient): Promise<void> {
  if ((await client.listCollections()).some(({ name }) => name === collection)) return;
  await client.createCollection({
    name: collection,
    description: 'The example of README.md',
    visibility: 'public',
    embedding_profile_id: offlineProfile,
  });
}

async function submitExamples(client: RetrievalClient): Promise<readonly FileResult[]> {
  await using reader = openDocumentReader();
  let results: readonly FileResult[] = [];
  const onProgress = (): void => undefined;
  for (const { group, person } of readers) {
    const { files } = findDocuments([join(checkout, 'examples/handbook', group)]);
    const settings = { collection, tenant: defaultTenant, groups: [group], principals: [person] };
    results = await submitFiles(files, { client, reader, settings, onProgress }, results);
  }
  return awaitJobs(results, { client, onProgress }, jobsMs);
}
