import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileReason } from '../errors/file-fault.ts';
import { ServiceApiError } from '../http/service-error.ts';
import type { DocumentInput, RetrievalClient } from '../retrieval/retrieval-client.ts';
import { createBatcher } from './batch-documents.ts';
import type { ExtractionFault } from './extraction/document-text.ts';
import type { DocumentFile, LeftOut } from './find-documents.ts';
import { type DocumentSettings, makeDocument, repeatedDocument } from './make-document.ts';
import { type DocumentReader, documentLimits } from './read-document.ts';

/**
 * The result of the submit of one file: `unchanged` files were already submitted with the same bytes and settings, and
 * no later submit replaced their documents; `skipped` are symbolic links that are not followed.
 */
export type FileState = 'done' | 'unchanged' | 'waiting' | 'failed' | 'unreadable' | 'skipped';

export type FileResult = {
  readonly docId: string;
  readonly state: FileState;
  readonly jobId?: string;
  /** Why a failed, unreadable or skipped file is not searchable. */
  readonly reason?: string;
};

/** `retry` names a repetition that the service must not answer as a duplicate. */
type SubmittedFile = DocumentFile & { readonly retry?: string };

type SubmitTools = {
  readonly client: Pick<RetrievalClient, 'submit' | 'getJob'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly settings: DocumentSettings;
  /** Called with the ids of a batch before it is sent. */
  readonly onSend?: (docIds: readonly string[]) => void;
  /** Called after each file and after each ended job. */
  readonly onProgress: (results: readonly FileResult[]) => void;
};

/** Polling interval of the jobs. */
const lookEveryMs = 250;
/** Maximum number of jobs that one poll reads. */
const mostLooks = 50;

/** The result of a place that was not read. */
export function leftOutResult({ docId, path, reason, isFault }: LeftOut): FileResult {
  return { docId: docId === '' ? path : docId, state: isFault ? 'unreadable' : 'skipped', reason };
}

/**
 * Reads the files and submits them in batches. A file without readable text becomes a failed result; the other files
 * are submitted.
 */
export async function submitFiles(
  files: readonly SubmittedFile[],
  { client, reader, settings, onSend, onProgress }: SubmitTools,
  before: readonly FileResult[] = [],
): Promise<readonly FileResult[]> {
  const results: FileResult[] = [...before];
  const batcher = createBatcher();
  const retries = new Map(files.flatMap(({ docId, retry }) => (retry === undefined ? [] : [[docId, retry] as const])));
  const send = async (batch: readonly DocumentInput[]): Promise<void> => {
    if (batch.length === 0) return;
    onSend?.(batch.map(({ doc_id }) => doc_id));
    await submitBatch(client, batch, retries, (ended) => {
      results.push(...ended);
      onProgress(results);
    });
  };
  for (const file of files) {
    const read = await readFile(file, reader, settings);
    if ('reason' in read) {
      results.push({ docId: file.docId, state: 'unreadable', reason: read.reason });
      onProgress(results);
    } else {
      await send(batcher.add(read.document));
    }
  }
  await send(batcher.rest());
  return results;
}

/**
 * Submits a batch. If the service refuses it, its halves are submitted, so that only the documents that it refuses
 * fail. A document that repeats an earlier job while a later one decides is submitted once more: its text and its
 * readers become those of this submit.
 * @param repetitions for documents that are submitted again under a separate name, this name by the id of the document
 * @param onEnd called with the results of each answer, so that they are known if a later request of the batch has none
 */
async function submitBatch(
  client: Pick<RetrievalClient, 'submit'>,
  batch: readonly DocumentInput[],
  repetitions: ReadonlyMap<string, string>,
  onEnd: (results: readonly FileResult[]) => void,
): Promise<void> {
  const [first] = batch;
  if (first === undefined) return;
  let jobs: Awaited<ReturnType<RetrievalClient['submit']>>['jobs'];
  try {
    ({ jobs } = await client.submit(
      batch.map((document) => {
        const repetition = repetitions.get(document.doc_id);
        return repetition === undefined ? document : repeatedDocument(document, repetition);
      }),
    ));
  } catch (error) {
    if (!(error instanceof ServiceApiError && error.exit === 'usage')) throw error;
    if (batch.length === 1) return onEnd([{ docId: first.doc_id, state: 'failed', reason: error.message }]);
    const middle = Math.ceil(batch.length / 2);
    await submitBatch(client, batch.slice(0, middle), repetitions, onEnd);
    return await submitBatch(client, batch.slice(middle), repetitions, onEnd);
  }
  const superseded = new Map(
    jobs.flatMap((job) => (job.superseded === true ? [[job.doc_id, job.job_id] as const] : [])),
  );
  const current = jobs.flatMap(({ doc_id: docId, job_id: jobId, status }): readonly FileResult[] =>
    superseded.has(docId) ? [] : [{ docId, jobId, state: status === 'DEDUPLICATED' ? 'unchanged' : 'waiting' }],
  );
  if (current.length > 0) onEnd(current);
  const again = batch.filter(({ doc_id }) => superseded.has(doc_id));
  await submitBatch(client, again, superseded, onEnd);
}

/** Waits until each job has ended, including the jobs of unchanged files, which may have failed earlier. */
export async function awaitJobs(
  submitted: readonly FileResult[],
  { client, onProgress }: Pick<SubmitTools, 'client' | 'onProgress'>,
  timeoutMs: number,
): Promise<readonly FileResult[]> {
  const results = [...submitted];
  const end = performance.now() + timeoutMs;
  onProgress(results);
  let open = results.flatMap(({ jobId }, at) => (jobId === undefined ? [] : [{ at, jobId }]));
  while (open.length > 0) {
    const still: typeof open = [];
    for (const one of open.slice(0, mostLooks)) {
      const { status, error } = await client.getJob(one.jobId);
      const before = results[one.at] as FileResult;
      if (status === 'DONE') results[one.at] = before.state === 'unchanged' ? before : { ...before, state: 'done' };
      else if (status === 'FAILED') results[one.at] = { ...before, state: 'failed', reason: error ?? 'no reason' };
      else {
        results[one.at] = { ...before, state: 'waiting' };
        still.push(one);
      }
    }
    // Jobs that this poll did not read are first in the next poll.
    open = [...open.slice(mostLooks), ...still];
    onProgress(results);
    if (open.length === 0 || performance.now() + lookEveryMs > end) break;
    await pause(lookEveryMs);
  }
  return results;
}

/**
 * Submits files once more that were answered as duplicates of a job that failed, and waits for the new jobs. The
 * service does not repeat a job for the same key, so that each of these files gets a new key, which contains the id of
 * the failed job.
 * @param submitted the results before the wait @param ended the results after the wait, of the same files in the same
 * order
 */
export async function retryFailed(
  files: readonly DocumentFile[],
  { submitted, ended }: { readonly submitted: readonly FileResult[]; readonly ended: readonly FileResult[] },
  tools: SubmitTools,
  timeoutMs: number,
): Promise<readonly FileResult[]> {
  const failed = new Map(
    ended.flatMap(({ docId, state, jobId }, at) =>
      state === 'failed' && submitted[at]?.state === 'unchanged' ? [[docId, jobId] as const] : [],
    ),
  );
  if (failed.size === 0) return ended;
  const due = files.flatMap((file) => {
    const retry = failed.get(file.docId);
    return retry === undefined ? [] : [{ ...file, retry }];
  });
  const others = ended.filter(({ docId }) => !failed.has(docId));
  return awaitJobs(await submitFiles(due, tools, others), tools, timeoutMs);
}

async function readFile(
  { path, docId }: DocumentFile,
  reader: Pick<DocumentReader, 'read'>,
  settings: DocumentSettings,
): Promise<{ readonly document: DocumentInput } | { readonly reason: string }> {
  try {
    // The change time (ctime) also changes when a copy preserves the modification time of the original.
    const { ctimeMs: changedMs } = statSync(path);
    const read = await reader.read(path);
    if (read.kind === 'fault') return { reason: faultReasons[read.fault] };
    const { contentHash, document } = read;
    return { document: makeDocument({ docId, contentHash, changedMs }, document, settings) };
  } catch (error) {
    return { reason: fileReason(error) };
  }
}

const faultReasons: Readonly<Record<ExtractionFault, string>> = {
  empty: 'it is empty',
  unsupported: 'its format is not known: Markdown, HTML, text, PDF and DOCX are read',
  file_too_large: `it is larger than ${documentLimits.fileBytes / 1_048_576} MiB`,
  encoding: 'its characters are not valid in its encoding',
  malformed: 'it is damaged or not of the format that its name says',
  encrypted: 'it is encrypted',
  expands_too_much: 'it expands to more than the reader allows',
  too_costly: 'reading it exceeds the limit of memory or time',
  text_too_large: 'its text is larger than the service accepts',
  no_text: 'it has no text',
};
