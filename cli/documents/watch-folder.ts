import { statSync } from 'node:fs';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { fileReason } from '../errors/file-fault.ts';
import { ServiceApiError } from '../http/service-error.ts';
import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
import { type DocumentFile, findDocuments, isLeftOut, type LeftOut } from './find-documents.ts';
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
  /** Called once for each place that has become unreadable. */
  readonly onLeftOut: (place: LeftOut) => void;
  /** Called when a round failed, unless the one before failed in the same way; it is repeated. */
  readonly onFailure: (sentence: string) => void;
};

/**
 * Keeps the documents of a source in step with files: each round submits changed files and deletes documents without a
 * file. Documents whose file may be at an unreadable place are kept.
 */
export function createFolderWatch(paths: readonly string[], tools: WatchTools): () => Promise<void> {
  const seen = new Map<string, string>();
  const stored = new Set<string>();
  let isFirst = true;
  let told: ReadonlySet<string> = new Set();
  let lastFailure: string | undefined;

  function tellOnce(leftOut: readonly LeftOut[]): void {
    const keyOf = ({ path, reason }: LeftOut): string => JSON.stringify([path, reason]);
    for (const place of leftOut) if (!told.has(keyOf(place))) tools.onLeftOut(place);
    told = new Set(leftOut.map(keyOf));
  }

  async function round(): Promise<void> {
    const { files, leftOut } = findDocuments(paths);
    tellOnce(leftOut);
    // A folder that is not mounted is empty as well.
    if (files.length === 0) throw new CliError('not_found', 'There is no document in the folder: nothing is deleted.');
    const changed = files.filter((file) => seen.get(file.docId) !== stampOf(file));
    const stamps = new Map(changed.map((file) => [file.docId, stampOf(file)]));
    const present = new Set(files.map(({ docId }) => docId));
    if (isFirst) for (const docId of await idsOfSource(tools)) stored.add(docId);
    isFirst = false;
    const isKept = (docId: string): boolean => present.has(docId) || isLeftOut(docId, leftOut);
    const deleted = await deleteOthers(tools, isKept, stored);
    for (const docId of [...seen.keys()].filter((one) => !isKept(one))) seen.delete(docId);
    const { client, timeoutMs } = tools;
    const submitted = await submitFiles(changed, { ...tools, onProgress: () => undefined });
    const results = await awaitJobs(submitted, { client, onProgress: () => undefined }, timeoutMs);
    // A document that is still waiting is submitted again; the service answers it as a duplicate.
    for (const { docId, state, jobId } of results) {
      if (jobId !== undefined) stored.add(docId);
      if (state !== 'waiting') seen.set(docId, stamps.get(docId) ?? '');
    }
    if (results.length + deleted.length > 0) tools.onChange(results, deleted);
  }

  return async () => {
    const failure = await round().then(
      () => undefined,
      (error: unknown) => describeError(error).message,
    );
    if (failure !== undefined && failure !== lastFailure) tools.onFailure(failure);
    lastFailure = failure;
  };
}

/** Ids of the documents of the source that the service has now. */
async function idsOfSource({ client, collectionId, settings }: WatchTools): Promise<readonly string[]> {
  const documents = await client.listDocuments(collectionId);
  return documents.filter(({ metadata }) => metadata['source'] === settings.source).map(({ doc_id }) => doc_id);
}

/** Deletes documents without a file. A document that another client has already deleted counts as deleted. */
async function deleteOthers(
  tools: WatchTools,
  isKept: (docId: string) => boolean,
  stored: Set<string>,
): Promise<readonly string[]> {
  const { client, collectionId } = tools;
  const deleted: string[] = [];
  for (const docId of [...stored].filter((one) => !isKept(one))) {
    try {
      await client.deleteDocument(collectionId, docId);
      deleted.push(docId);
    } catch (error) {
      const isAbsent = error instanceof ServiceApiError && error.status === 404;
      // This list fails if the collection is absent or no longer readable.
      if (!isAbsent || (await idsOfSource(tools)).includes(docId)) throw error;
    }
    stored.delete(docId);
  }
  return deleted;
}

/** Changes with the content of a file, as far as the file system reports them. */
function stampOf({ path }: DocumentFile): string {
  try {
    const { ctimeMs, size, ino } = statSync(path);
    return `${ctimeMs} ${size} ${ino} ${path}`;
  } catch (error) {
    return fileReason(error);
  }
}
