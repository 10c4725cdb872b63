import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { fileReason } from '../errors/file-fault.ts';
import { ServiceApiError } from '../http/service-error.ts';
import type { RetrievalClient } from '../retrieval/retrieval-client.ts';
import { type AttemptTimes, attemptTimes, createFileAttempts, type StampedFile } from './file-attempts.ts';
import { type DocumentFile, findDocuments, isLeftOut, type LeftOut } from './find-documents.ts';
import type { DocumentSettings } from './make-document.ts';
import type { DocumentReader } from './read-document.ts';
import { awaitJobs, type FileResult, submitFiles } from './submit-files.ts';

/** Pauses of a watch, milliseconds. */
type WatchTimes = AttemptTimes & {
  /**
   * An editor that replaces a file removes it for a moment: a file counts as deleted if it is absent for this time,
   * milliseconds.
   */
  readonly goneMs: number;
  /**
   * How often the documents of the source are listed, milliseconds. A job that was open at the last list, or a deletion
   * that failed, can leave a document without a file.
   */
  readonly listMs: number;
};

const watchTimes: WatchTimes = { ...attemptTimes, goneMs: 250, listMs: 300_000 };

type FoundDocuments = ReturnType<typeof findDocuments>;

type WatchTools = {
  readonly client: Pick<RetrievalClient, 'submit' | 'getJob' | 'listDocuments' | 'deleteDocument'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly collectionId: string;
  /** Documents of this source that are not in the folder are deleted; all others are left alone. */
  readonly settings: DocumentSettings & { readonly source: string };
  readonly timeoutMs: number;
  readonly times?: WatchTimes;
  /** Called after each round with changes. */
  readonly onChange: (results: readonly FileResult[], deleted: readonly string[]) => void;
  /** Called once for each place that has become unreadable. */
  readonly onLeftOut: (place: LeftOut) => void;
  /** Called when a round failed, unless the previous round failed in the same way; the round is repeated. */
  readonly onFailure: (sentence: string) => void;
};

/**
 * Keeps the documents of a source in sync with files: each round submits files that are not known to be in the
 * collection in their current state, and deletes documents without a file. Documents whose file may be at an unreadable
 * place are kept.
 */
export function createFolderWatch(paths: readonly string[], tools: WatchTools): () => Promise<void> {
  const { client, timeoutMs, times = watchTimes } = tools;
  const attempts = createFileAttempts(times);
  /** Documents that the service may have. */
  const stored = new Set<string>();
  let listedAt = Number.NEGATIVE_INFINITY;
  let told: ReadonlySet<string> = new Set();
  let lastFailure: string | undefined;

  function tellOnce(leftOut: readonly LeftOut[]): void {
    const keyOf = ({ path, reason }: LeftOut): string => JSON.stringify([path, reason]);
    for (const place of leftOut) if (!told.has(keyOf(place))) tools.onLeftOut(place);
    told = new Set(leftOut.map(keyOf));
  }

  async function listStored(): Promise<void> {
    if (performance.now() - listedAt < times.listMs) return;
    for (const docId of await idsOfSource(tools)) stored.add(docId);
    listedAt = performance.now();
  }

  /** Documents without a file now and a moment later. */
  async function findGone(found: FoundDocuments): Promise<readonly string[]> {
    const isKept = keptBy(found);
    const gone = [...stored].filter((docId) => !isKept(docId));
    if (gone.length === 0) return [];
    await pause(times.goneMs);
    const again = findDocuments(paths);
    refuseEmpty(again);
    const isBack = keptBy(again);
    return gone.filter((docId) => !isBack(docId));
  }

  async function submitDue(files: readonly DocumentFile[]): Promise<readonly FileResult[]> {
    const readAt = Date.now();
    const due = attempts.due(files.map(stampedFile), readAt);
    const onSend = (docIds: readonly string[]): void => {
      // The service may have accepted a batch whose answer is lost.
      for (const docId of docIds) stored.add(docId);
    };
    const submitted = await submitFiles(due, { ...tools, onSend, onProgress: () => undefined });
    const results = await awaitJobs(submitted, { client, onProgress: () => undefined }, timeoutMs);
    const fileOf = new Map(due.map((file) => [file.docId, file]));
    return results.filter((result) => {
      const file = fileOf.get(result.docId);
      return file === undefined || attempts.record(file, result, readAt);
    });
  }

  async function round(): Promise<void> {
    const found = findDocuments(paths);
    tellOnce(found.leftOut);
    refuseEmpty(found);
    await listStored();
    attempts.retain(keptBy(found));
    const deletion = await deleteDocuments(tools, await findGone(found), stored);
    const submitted = await submitDue(found.files).then(
      (results) => ({ results, failure: undefined }),
      (failure: unknown) => ({ results: [], failure }),
    );
    const { results } = submitted;
    if (results.length + deletion.deleted.length > 0) tools.onChange(results, deletion.deleted);
    const failure = deletion.failure ?? submitted.failure;
    if (failure !== undefined) throw failure;
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

/** @throws CliError not_found without a document: a folder that is not mounted is empty as well */
function refuseEmpty({ files }: FoundDocuments): void {
  if (files.length > 0) return;
  throw new CliError('not_found', 'There is no document in the folder: nothing is deleted.');
}

function keptBy({ files, leftOut }: FoundDocuments): (docId: string) => boolean {
  const present = new Set(files.map(({ docId }) => docId));
  return (docId) => present.has(docId) || isLeftOut(docId, leftOut);
}

/** Ids of the documents of the source that the service has now. */
async function idsOfSource({ client, collectionId, settings }: WatchTools): Promise<readonly string[]> {
  const documents = await client.listDocuments(collectionId);
  return documents.filter(({ metadata }) => metadata['source'] === settings.source).map(({ doc_id }) => doc_id);
}

/**
 * Deletes documents without a file. A document that another client has already deleted counts as deleted. After a
 * failure, the other documents are still deleted, and the failed ones are tried again.
 */
async function deleteDocuments(
  tools: WatchTools,
  docIds: readonly string[],
  stored: Set<string>,
): Promise<{ readonly deleted: readonly string[]; readonly failure: unknown }> {
  const deleted: string[] = [];
  let failure: unknown;
  for (const docId of docIds) {
    try {
      if ((await deleteDocument(tools, docId)) === 'deleted') deleted.push(docId);
      stored.delete(docId);
    } catch (error) {
      failure ??= error;
      if (!(error instanceof ServiceApiError)) break;
    }
  }
  return { deleted, failure };
}

async function deleteDocument(tools: WatchTools, docId: string): Promise<'deleted' | 'absent'> {
  const { client, collectionId } = tools;
  try {
    await client.deleteDocument(collectionId, docId);
    return 'deleted';
  } catch (error) {
    const isAbsent = error instanceof ServiceApiError && error.status === 404;
    // This list fails if the collection is absent or no longer readable.
    if (!isAbsent || (await idsOfSource(tools)).includes(docId)) throw error;
    return 'absent';
  }
}

function stampedFile(file: DocumentFile): StampedFile {
  try {
    const { ctimeMs, size, ino } = statSync(file.path);
    return { ...file, stamp: `${ctimeMs} ${size} ${ino} ${file.path}`, changedMs: ctimeMs };
  } catch (error) {
    return { ...file, stamp: fileReason(error), changedMs: undefined };
  }
}
