import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type AllowOptions, withAllowOptions } from '../documents/allow-options.ts';
import { deleteAndWait, deletedDocumentLines, refuseUndeleted } from '../documents/delete-and-wait.ts';
import { findDocuments, refuseUnreadable } from '../documents/find-documents.ts';
import type { DocumentSettings } from '../documents/make-document.ts';
import { openDocumentReader } from '../documents/read-document.ts';
import { awaitJobs, type FileResult, leftOutResult, retryFailed, submitFiles } from '../documents/submit-files.ts';
import { countsOf, resultLines } from '../documents/submit-texts.ts';
import { createFolderWatch } from '../documents/watch-folder.ts';
import { CliError } from '../errors/cli-error.ts';
import { confirmOnTerminal } from '../options/confirm-on-terminal.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import {
  formatOf,
  isForPeople,
  type OutputOptions,
  withOutput,
  withUnnamedOutput,
  writeResult,
} from '../output/format.ts';
import { openProgressLine } from '../output/progress-line.ts';
import { escapeLine, tableOf, writeText } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import { namedCollection } from '../retrieval/named-collection.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';
import { addDocumentShare } from './document-share.ts';

/** Polling interval of the files. */
const watchEveryMs = 1_000;

type SubmitOptions = RetrievalOptions &
  OutputOptions &
  AllowOptions & {
    readonly collection: string;
    readonly source?: string;
    readonly baseUrl?: string;
    readonly timeout: number;
    readonly wait: boolean;
    readonly watch?: boolean;
  };

export function addDocuments(program: Command): void {
  const documents = program.command('documents').description('documents of the retrieval service');
  const paths = documents
    .command('submit')
    .description('submit Markdown, HTML, text, PDF and DOCX files, and wait until they can be found')
    .argument('<paths...>', 'files, or folders with all documents in them')
    .requiredOption('--collection <name>', 'collection that the documents belong to');
  const submit = withAllowOptions(paths)
    .option('--source <name>', 'source of the documents, for filters on metadata.source')
    .option('--base-url <url>', 'address before the document id, for the links of citations')
    .option('--timeout <seconds>', 'how long to wait for the documents', wholeNumber(1, 86_400), 600)
    .option('--no-wait', 'end when the documents are accepted')
    .option('--watch', 'keep the documents of --source in sync with the files, deletions included, until Ctrl-C');
  withUnnamedOutput(withRetrievalOptions(submit)).action(submitDocuments);
  const list = documents
    .command('list')
    .description('list the documents of a collection that the caller may see')
    .requiredOption('--collection <name>', 'collection of the documents');
  withOutput(withRetrievalOptions(list)).action(listDocuments);
  addDocumentShare(documents);
  const remove = documents
    .command('delete')
    .description('delete documents of a collection, and wait until they are no longer found; asks first at a terminal')
    .argument('<ids...>', 'ids of the documents')
    .requiredOption('--collection <name>', 'collection of the documents')
    .option('--timeout <seconds>', 'how long to wait', wholeNumber(1, 86_400), 60);
  withConfirm(withUnnamedOutput(withRetrievalOptions(remove))).action(deleteNamed);
}

async function submitDocuments(paths: readonly string[], options: SubmitOptions): Promise<void> {
  if (options.watch === true) return watchFolder(paths, options);
  refuseUnreadable(paths);
  const { files, leftOut } = findDocuments(paths);
  const noDocument = new CliError('not_found', `There is no document in ${paths.join(', ')}.`);
  if (files.length + leftOut.length === 0) throw noDocument;
  const client = openRetrievalClient(options);
  await using reader = openDocumentReader();
  const format = formatOf(options);
  let last: readonly FileResult[] = leftOut.map(leftOutResult);
  const results = await (async () => {
    using progress = openProgressLine();
    const onProgress = (now: readonly FileResult[]): void => {
      last = now;
      if (isForPeople(format)) progress.show(`${countsOf(now)} of ${files.length + leftOut.length}`);
    };
    const tools = { client, reader, settings: settingsOf(options), onProgress };
    const submitted = await submitFiles(files, tools, last);
    if (!options.wait) return submitted;
    const timeoutMs = options.timeout * 1_000;
    const ended = await awaitJobs(submitted, tools, timeoutMs);
    return retryFailed(files, { submitted, ended }, tools, timeoutMs);
  })().catch((error: unknown) => {
    // Documents that were accepted before a failure stay accepted, so that programs must learn their jobs.
    if (last.length > 0) writeResult(format, { items: last }, (isWide) => resultLines(last, isWide));
    throw error;
  });
  writeResult(format, { items: results }, (isWide) => resultLines(results, isWide));
  refuseIncomplete(results, options.wait);
  if (files.length === 0) throw noDocument;
}

async function watchFolder(paths: readonly string[], options: SubmitOptions): Promise<void> {
  const { source } = options;
  if (source === undefined) {
    throw new CliError(
      'usage',
      '--watch also deletes a document whose file was deleted. Add --source NAME: only documents of that source are deleted.',
    );
  }
  refuseUnreadable(paths);
  const client = openRetrievalClient(options);
  const { collection_id: collectionId } = await namedCollection(client, options.collection);
  await using reader = openDocumentReader();
  const round = createFolderWatch(paths, {
    client,
    reader,
    collectionId,
    settings: { ...settingsOf(options), source },
    timeoutMs: options.timeout * 1_000,
    onChange: (results, deleted) => {
      if (!isForPeople(formatOf(options))) return writeText(JSON.stringify({ items: results, deleted }));
      const removed = deleted.length === 0 ? '' : ` ${deleted.length} deleted.`;
      writeText(`${results.length === 0 ? '' : resultLines(results, false)}${removed}`.trim());
    },
    onLeftOut: ({ path, reason }) => warn(`${path} is skipped: ${reason}.`),
    onFailure: (sentence) => warn(`${sentence} Trying again.`),
  });
  for (;;) {
    await round();
    await pause(watchEveryMs);
  }
}

function warn(sentence: string): void {
  process.stderr.write(`portcullis: warning: ${escapeLine(sentence)}\n`);
}

type OfCollection = RetrievalOptions & OutputOptions & { readonly collection: string };

async function listDocuments(options: OfCollection): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: id } = await namedCollection(client, options.collection);
  const items = await client.listDocuments(id);
  const header = ['DOCUMENT', 'TITLE', 'CHUNKS', 'AVAILABLE'];
  const text = (isWide: boolean): string =>
    items.length === 0
      ? 'There is no document that the caller may read.'
      : tableOf([
          isWide ? [...header, 'CONTENT HASH', 'ADDRESS'] : header,
          ...items.map(({ doc_id, title, chunk_count, available_at, content_hash, source_url }) => {
            const row = [doc_id, title ?? '', String(chunk_count), available_at];
            return isWide ? [...row, content_hash, source_url ?? ''] : row;
          }),
        ]);
  writeNamed(formatOf(options), { value: { items }, names: items.map(({ doc_id }) => doc_id), text });
}

async function deleteNamed(
  ids: readonly string[],
  options: OfCollection & ConfirmOption & { readonly timeout: number },
): Promise<void> {
  const client = openRetrievalClient(options);
  const { collection_id: collectionId } = await namedCollection(client, options.collection);
  const effects = ids.map((id) => `The document ${id} of the collection ${options.collection} would be deleted.`);
  await confirmOnTerminal(effects, options);
  const deletions = await deleteAndWait(ids, { client, collectionId, timeoutMs: options.timeout * 1_000 });
  const { results } = deletions;
  writeResult(formatOf(options), { items: results }, () => deletedDocumentLines(results));
  refuseUndeleted(deletions);
}

function settingsOf({ collection, tenant, allowGroup, allowPerson, source, baseUrl }: SubmitOptions): DocumentSettings {
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) {
    throw new CliError('usage', '--base-url must be an address such as https://intranet.example/handbook.');
  }
  return {
    collection,
    tenant,
    groups: allowGroup ?? [],
    principals: allowPerson ?? [],
    ...(source === undefined ? {} : { source }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

function refuseIncomplete(results: readonly FileResult[], isAwaited: boolean): void {
  const failed = results.filter(({ state }) => state === 'failed' || state === 'unreadable').length;
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} documents failed.`);
  const waiting = results.filter(({ state }) => state === 'waiting').length;
  if (isAwaited && waiting > 0) {
    throw new CliError('timeout', `${waiting} documents are not indexed yet: repeat the command to wait for them.`);
  }
}
