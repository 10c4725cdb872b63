import { statSync } from 'node:fs';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
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

  async function round(): Promise<void> {
    const files = findDocuments(paths);
    // A folder that is not mounted is empty as well.
    if (files.length === 0) throw new CliError('not_found', 'There is no document in the folder: nothing is deleted.');
    const changed = files.filter((file) => seen.get(file.docId) !== stampOf(file));
    const stamps = new Map(changed.map((file) => [file.docId, stampOf(file)]));
    const deleted = await deleteOthers(tools, new Set(files.map(({ docId }) => docId)), seen);
    const { client, timeoutMs } = tools;
    const submitted = await submitFiles(changed, { ...tools, onProgress: () => undefined });
    const results = await awaitJobs(submitted, { client, onProgress: () => undefined }, timeoutMs);
    // A document that is still waiting is submitted again, which the service answers as a duplicate.
    for (const { docId, state } of results) if (state !== 'waiting') seen.set(docId, stamps.get(docId) ?? '');
    if (results.length + deleted.length > 0) tools.onChange(results, deleted);
  }

  return () => round().catch((error: unknown) => tools.onFailure(describeError(error).message));
}

/** Deletes documents of the source without a file: at the first round of all, then of files that have gone. */
async function deleteOthers(
  { client, collectionId, settings }: WatchTools,
  present: ReadonlySet<string>,
  seen: Map<string, string>,
): Promise<readonly string[]> {
  const isFirst = seen.size === 0;
  const gone = isFirst
    ? (await client.listDocuments(collectionId))
        .filter(({ doc_id, metadata }) => metadata['source'] === settings.source && !present.has(doc_id))
        .map(({ doc_id }) => doc_id)
    : [...seen.keys()].filter((docId) => !present.has(docId));
  for (const docId of gone) {
    await client.deleteDocument(collectionId, docId);
    seen.delete(docId);
  }
  return gone;
}

/** Changes with the content of a file, as far as the file system tells. */
function stampOf({ path }: DocumentFile): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
