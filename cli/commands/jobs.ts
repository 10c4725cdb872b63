import { type Command, Option } from 'commander';
import type { IngestJob } from '#contracts/retrieval';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/format.ts';
import { escapeLine, tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import { changeEach, refuseUnchanged, unchangedSentence } from '../retrieval/change-each.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';

type JobOptions = RetrievalOptions & OutputOptions;
type ListOptions = JobOptions & { readonly collection: string; readonly state?: string; readonly limit: number };

export function addJobs(program: Command): void {
  const jobs = program.command('jobs').description('jobs that ingest documents into a collection');
  const list = jobs
    .command('list')
    .description('list the jobs of a collection, the newest first')
    .requiredOption('--collection <name>', 'collection of the documents')
    .addOption(
      new Option('--state <state>', 'only jobs in this state; DEAD_LETTER: no delivery was answered').choices([
        'PENDING',
        'RUNNING',
        'DONE',
        'FAILED',
        'DEAD_LETTER',
      ]),
    )
    .option('--limit <number>', 'maximum number of jobs', wholeNumber(1, 10_000), 50);
  withOutput(withRetrievalOptions(list)).action(listJobs);
  const get = jobs.command('get').description('show the progress of a document').argument('<id>', 'id of the job');
  withOutput(withRetrievalOptions(get)).action(show);
  const replay = jobs
    .command('replay')
    .description('repeat failed jobs, after their cause is removed')
    .argument('<ids...>', 'ids of the jobs');
  withOutput(withRetrievalOptions(replay)).action(replayJobs);
}

async function listJobs(options: ListOptions): Promise<void> {
  const { collection, state, limit } = options;
  const items = await openRetrievalClient(options).listJobs(collection, state, limit);
  writeJobs(options, items, { items });
}

async function show(id: string, options: JobOptions): Promise<void> {
  const job = await openRetrievalClient(options).getJob(id);
  writeJobs(options, [job], job);
}

async function replayJobs(ids: readonly string[], options: JobOptions): Promise<void> {
  const client = openRetrievalClient(options);
  const replayed = await changeEach(ids, 'repeated', (id) => client.replayJob(id));
  const items = replayed.changes.map((one) => ('value' in one ? one.value : { job_id: one.id, reason: one.reason }));
  const jobs = replayed.changes.flatMap((one) => ('value' in one ? [one.value] : []));
  const refusals = replayed.changes.flatMap((one) => {
    if ('value' in one) return [];
    const words = { object: `job ${one.id}`, done: 'repeated', kept: `Job ${one.id} is not repeated` };
    return [escapeLine(unchangedSentence(one, words))];
  });
  const text = (isWide: boolean): string =>
    [...(jobs.length === 0 ? [] : [jobTable(jobs, isWide)]), ...refusals].join('\n');
  writeNamed(formatOf(options), { value: { items }, names: jobs.map(({ job_id }) => job_id), text });
  refuseUnchanged(replayed, 'jobs were not repeated');
}

function writeJobs(options: JobOptions, jobs: readonly IngestJob[], value: unknown): void {
  const names = jobs.map(({ job_id }) => job_id);
  const text = (isWide: boolean): string => (jobs.length === 0 ? 'There is no such job.' : jobTable(jobs, isWide));
  writeNamed(formatOf(options), { value, names, text });
}

function jobTable(jobs: readonly IngestJob[], isWide: boolean): string {
  const header = ['JOB', 'DOCUMENT', 'OPERATION', 'STATUS', 'ATTEMPTS', 'REASON'];
  return tableOf([
    isWide ? [...header, 'COLLECTION', 'UPDATED', 'TRACE'] : header,
    ...jobs.map(({ job_id, doc_id, op, status, attempts, error, collection, updated_at, trace_id }) => {
      const row = [job_id, doc_id, op, status, String(attempts), error ?? ''];
      return isWide ? [...row, collection, updated_at, trace_id] : row;
    }),
  ]);
}
