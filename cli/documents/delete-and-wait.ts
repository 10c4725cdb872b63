import { CliError } from '../errors/cli-error.ts';
import { ServiceApiError } from '../http/service-error.ts';
import { escapeLine } from '../output/write.ts';
import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
import { awaitJobs, type FileResult } from './submit-files.ts';

type DeletionTools = {
  readonly client: Pick<RetrievalClient, 'submit' | 'getJob' | 'deleteDocument'>;
  readonly collectionId: string;
  readonly timeoutMs: number;
};

/** One result for each document, and the error that ended the command before all were deleted. */
type Deletions = { readonly results: readonly FileResult[]; readonly failure?: unknown };

/**
 * Deletes documents and waits for their jobs. A lost connection ends the command; earlier results are kept.
 * @throws the error of the client if the only document is refused
 */
export async function deleteAndWait(
  ids: readonly string[],
  { client, collectionId, timeoutMs }: DeletionTools,
): Promise<Deletions> {
  const sent: FileResult[] = [];
  for (const docId of ids) {
    try {
      const { job_id: jobId } = await client.deleteDocument(collectionId, docId);
      sent.push({ docId, jobId, state: 'waiting' });
    } catch (failure) {
      if (ids.length === 1) throw failure;
      const reason = reasonOf(failure);
      sent.push({ docId, state: 'failed', reason });
      if (isOfOneDocument(failure)) continue;
      const rest = ids.slice(sent.length);
      sent.push(...rest.map((one) => ({ docId: one, state: 'failed', reason: 'it was not sent' }) as const));
      return { results: sent, failure };
    }
  }
  let results: readonly FileResult[] = sent;
  const onProgress = (now: readonly FileResult[]): void => {
    results = now;
  };
  try {
    return { results: await awaitJobs(sent, { client, onProgress }, timeoutMs) };
  } catch (failure) {
    return { results, failure };
  }
}

/** One line for each document. */
export function deletedDocumentLines(results: readonly FileResult[]): string {
  return results.map((one) => escapeLine(deletionLine(one))).join('\n');
}

/** @throws the error that ended the command; CliError failed, timeout if a document is not deleted */
export function refuseUndeleted({ results, failure }: Deletions): void {
  if (failure !== undefined) throw failure;
  const failed = results.filter(({ state }) => state === 'failed').length;
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} documents were not deleted.`);
  const open = results.filter(({ state }) => state === 'waiting').length;
  if (open === 0) return;
  throw new CliError(
    'timeout',
    `${open} of ${results.length} deletions have not ended yet: "portcullis jobs get ID" shows how far one is.`,
  );
}

function deletionLine({ docId, state, reason = '', jobId = '' }: FileResult): string {
  if (state === 'failed') return `Document ${docId} was not deleted: ${reason.replace(/\.$/, '')}.`;
  if (state === 'waiting') return `Document ${docId} is being deleted (job ${jobId}).`;
  return `Document ${docId} deleted.`;
}

/** Whether the service refused this document, so that the next one can be deleted. */
function isOfOneDocument(error: unknown): boolean {
  return error instanceof ServiceApiError && (error.status === 400 || error.status === 404 || error.status === 409);
}

function reasonOf(error: unknown): string {
  if (error instanceof ServiceApiError) return error.message;
  return 'the connection was lost, and it may be deleted: repeat the command';
}
