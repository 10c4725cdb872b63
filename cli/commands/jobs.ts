import type { Command } from 'commander';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { openRetrievalClient, type RetrievalOptions, withRetrievalOptions } from '../retrieval/retrieval-options.ts';

export function addJobs(program: Command): void {
  const jobs = program.command('jobs').description('jobs that bring documents into a collection');
  const get = jobs.command('get').description('show how far a document is').argument('<id>', 'id of the job');
  withOutput(withRetrievalOptions(get)).action(show);
}

async function show(id: string, options: RetrievalOptions & OutputOptions): Promise<void> {
  const job = await openRetrievalClient(options).getJob(id);
  writeResult(formatOf(options), job, () => {
    const { doc_id, collection, op, status, attempts, error, updated_at } = job;
    const header = ['DOCUMENT', 'COLLECTION', 'OPERATION', 'STATUS', 'ATTEMPTS', 'UPDATED', 'REASON'];
    return tableOf([header, [doc_id, collection, op, status, String(attempts), updated_at, error ?? '']]);
  });
}
