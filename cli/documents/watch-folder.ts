import { statSync } from 'node:fs';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
import { RetrievalApiError } from '../retrieval/retrieval-error.ts';
import { type DocumentFile, findDocuments } from './find-documents.ts';
import type { DocumentSettings } from './make-document.ts';
import type { DocumentReader } from './read-document.ts';
import { awaitJobs, type FileResult, submitFiles } from './submit-files.ts';

type WatchTools = {
  readonly client: Pick<RetrievalClient, 'submit' | 'getJob' | 'listDocuments' | 'deleteDocument'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly collectionId: string;
  /** Documents of this source that are not in the folder are deleted; all others are left alone. */
  readonly settings: DocumentSettings & { readonly source: string };
  readonly timeoutMs: number;
  /** Called after each round that changed something. */
  readonly onChange: (results: readonly FileResult[], deleted: readonly string[]) => void;
  /** Called when a round failed; it is repeated. */
  readonly onFailure: (sentence: string) => void;
};

/** Keeps the documents of a source in step with files: each round submits changed files and deletes what has no file. */
export function createFolderWatch(paths: readonly string[], tools: WatchTools): () => Promise<void> {
  const seen = new Map<string, string>();
  const stored = new Set<string>();
  let isFirst = true;

  async function round(): Promise<void> {
    const files = findDocuments(paths);
    // A folder that is not mounted is empty as well.
    if (files.length === 0) throw new CliError('not_found', 'There is no document in the folder: nothing is deleted.');
    const changed = files.filter((file) => seen.get(file.docId) !== stampOf(file));
    const stamps = new Map(changed.map((file) => [file.docId, stampOf(file)]));
    const present = new Set(files.map(({ docId }) => docId));
    if (isFirst) for (const docId of await idsOfSource(tools)) stored.add(docId);
    isFirst = false;
    const deleted = await deleteOthers(tools, present, stored);
    for (const docId of [...seen.keys()].filter((one) => !present.has(one))) seen.delete(docId);
    const { client, timeoutMs } = tools;
    const submitted = await submitFiles(changed, { ...tools, onProgress: () => undefined });
    const results = await awaitJobs(submitted, { client, onProgress: () => undefined }, timeoutMs);
    // A document that is still waiting is submitted again, which the service answers as a duplicate.
    for (const { docId, state, jobId } of results) {
      if (jobId !== undefined) stored.add(docId);
      if (state !== 'waiting') seen.set(docId, stamps.get(docId) ?? '');
    }
    if (results.length + deleted.length > 0) tools.onChange(results, deleted);
  }

  return () => round().catch((error: unknown) => tools.onFailure(describeError(error).message));
}

/** Ids of the documents of the source that the service has now. */
async function idsOfSource({ client, collectionId, settings }: WatchTools): Promise<readonly string[]> {
  const documents = await client.listDocuments(collectionId);
  return documents.filter(({ metadata }) => metadata['source'] === settings.source).map(({ doc_id }) => doc_id);
}

/** Deletes documents without a file. One that another client deleted before is deleted already. */
async function deleteOthers(
  tools: WatchTools,
  present: ReadonlySet<string>,
  stored: Set<string>,
): Promise<readonly string[]> {
  const { client, collectionId } = tools;
  const deleted: string[] = [];
  for (const docId of [...stored].filter((one) => !present.has(one))) {
    try {
      await client.deleteDocument(collectionId, docId);
      deleted.push(docId);
    } catch (error) {
      const isAbsent = error instanceof RetrievalApiError && error.status === 404;
      // A collection that is absent, or not readable any more, is a failure of this list.
      if (!isAbsent || (await idsOfSource(tools)).includes(docId)) throw error;
    }
    stored.delete(docId);
  }
  return deleted;
}

/** Changes with the content of a file, as far as the file system tells. */
function stampOf({ path }: DocumentFile): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.ctimeMs} ${found.size} ${found.ino}`;
}
