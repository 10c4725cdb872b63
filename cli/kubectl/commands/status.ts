import type { Command } from 'commander';
import { type ResourceCommandOptions, withResourceOptions } from '../../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../../output/format.ts';
import type { ResourceSource } from '../../resources/resource-source.ts';
import { readStatus } from '../../status/read-status.ts';
import { statusText } from '../../status/status-text.ts';
import { viewOfStatus } from '../../status/status-view.ts';

type StatusOptions = ResourceCommandOptions & OutputOptions;

export function addStatus(program: Command, source: ResourceSource): void {
  const command = program
    .command('status')
    .description('say who acts, what each gateway replica holds, how bindings stand and which workloads run');
  withOutput(withResourceOptions(command, source)).action((options: StatusOptions) => status(source, options));
}

async function status(source: ResourceSource, options: StatusOptions): Promise<void> {
  await using resources = await source.open(options);
  const view = viewOfStatus(await readStatus(resources));
  writeResult(formatOf(options), view, (isWide) => statusText(view, isWide));
}
