import type { Command } from 'commander';
import { type ResourceCommandOptions, withResourceOptions } from '../../commands/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../../output/format.ts';
import type { ResourceSource } from '../../resource-source.ts';
import { readStanding } from '../../standing/read-standing.ts';
import { standingText } from '../../standing/standing-text.ts';
import { viewOfStanding } from '../../standing/standing-view.ts';

type StatusOptions = ResourceCommandOptions & OutputOptions;

export function addStatus(program: Command, source: ResourceSource): void {
  const command = program
    .command('status')
    .description('say who acts, what each gateway replica holds, how bindings stand and which workloads run');
  withOutput(withResourceOptions(command, source)).action((options: StatusOptions) => status(source, options));
}

async function status(source: ResourceSource, options: StatusOptions): Promise<void> {
  await using resources = await source.open(options);
  const view = viewOfStanding(await readStanding(resources));
  writeResult(formatOf(options), view, (isWide) => standingText(view, isWide));
}
