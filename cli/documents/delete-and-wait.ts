import { CliError } from '../errors/cli-error.ts';
import { escapeLine } from '../output/write.ts';
import { changeEach, unchangedSentence } from '../retrieval/change-each.ts';
import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
import { awaitJobs, type FileResult } from './submit-files.ts';

type DeletionTools = {
  readonly client: Pick<RetrievalClient, 'submit' | 'getJob' | 'deleteDocument'>;
  readonly collectionId: string;
  readonly timeoutMs: number;
};

/** `isUnknown`: the deletion got no answer, so that the document may have been deleted. */
type DeletionResult = FileResult & { readonly isUnknown?: true };

/** One result for each document, and the error that ended the command before all documents were deleted. */
type Deletions = { readonly results: readonly DeletionResult[]; readonly failure?: unknown };

/**
 * Deletes documents and waits for their jobs. A lost connection ends the command; earlier results are kept.
 * @throws the error of the client if the only document is refused
 */
export async function deleteAndWait(
  ids: readonly string[],
  { client, collectionId, timeoutMs }: DeletionTools,
): Promise<Deletions> {
  const { changes, failure: ended } = await changeEach(ids, 'deleted', (docId) =>
    client.deleteDocument(collectionId, docId),
  );
  const sent = changes.map((one): DeletionResult => {
    if ('value' in one) return { docId: one.id, jobId: one.value.job_id, state: 'waiting' };
    const { id: docId, ...unchanged } = one;
    return { docId, state: 'failed', ...unchanged };
  });
  if (ended !== undefined) return { results: sent, failure: ended };
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
export function deletedDocumentLines(results: readonly DeletionResult[]): string {
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
    `${open} of ${results.length} deletions have not ended yet: "portcullis jobs get ID" shows the progress of one.`,
  );
}

function deletionLine({ docId, state, reason = '', jobId = '', ...unknown }: DeletionResult): string {
  if (state === 'failed') {
    const words = { object: `document ${docId}`, done: 'deleted', kept: `Document ${docId} was not deleted` };
    return unchangedSentence({ reason, ...unknown }, words);
  }
  if (state === 'waiting') return `Document ${docId} is being deleted (job ${jobId}).`;
  return `Document ${docId} deleted.`;
}
