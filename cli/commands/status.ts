import type { Command } from 'commander';
import { describeError } from '../errors/describe-error.ts';
import { withResourceOptions } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { readApplyProblems } from '../platform/apply-problems.ts';
import { openPlatform, restartsText } from '../platform/open-platform.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import type { PlatformStatus } from '../platform/status-file.ts';
import type { ResourceSource, SourceOptions } from '../resources/resource-source.ts';
import { readStatus } from '../status/read-status.ts';
import { statusText } from '../status/status-text.ts';
import { type StatusView, viewOfStatus } from '../status/status-view.ts';

type StatusOptions = SourceOptions & OutputOptions;
/** The models that a gateway serves, or why they are unknown. */
type Served = { readonly installation: StatusView } | { readonly unknown: string };

export function addPlatformStatus(program: Command, source: ResourceSource): void {
  const command = program
    .command('status')
    .description('show the processes, addresses, gateways, bindings and workloads of the platform');
  withOutput(withResourceOptions(command, source)).action(status);
}

async function status(options: StatusOptions): Promise<void> {
  const platform = runningPlatform(options.data);
  const notApplied = readApplyProblems(platform.data);
  const served = await servedBy(platform, options);
  const format = formatOf(options);
  writeResult(format, { ...platform.status, notApplied, ...served }, (isWide) =>
    [
      textOf(platform.status),
      ...(notApplied.length === 0 ? [] : [`Not applied:\n${notApplied.map((problem) => `  ${problem}`).join('\n')}`]),
      'installation' in served ? `\n${statusText(served.installation, isWide)}` : `\n${served.unknown}`,
    ].join('\n'),
  );
}

/** An operator that does not respond is reported; everything else is still shown. */
async function servedBy(platform: RunningPlatform, options: StatusOptions): Promise<Served> {
  try {
    await using resources = openPlatform(platform, options);
    return { installation: viewOfStatus(await readStatus(resources)) };
  } catch (error) {
    return { unknown: describeError(error).message };
  }
}

function textOf({ ready, addresses, managementOff, clientKeyFile, dataDirectory, processes }: PlatformStatus): string {
  const facts = tableOf([
    ['Ready:', ready ? 'yes' : 'no'],
    ['Gateway:', addresses.gateways.join(' ')],
    ['Management API:', addresses.management ?? `off: ${managementOff ?? 'it is not ready'}`],
    ['Client key file:', clientKeyFile],
    ['Data directory:', dataDirectory],
  ]);
  const rows = processes.map((one) => [
    `  ${one.name}`,
    `process ${one.pid}`,
    one.ready ? 'ready' : one.answering ? 'not ready' : 'not answering',
    restartsText(one.restarts),
  ]);
  return `${facts}\nProcesses:\n${tableOf(rows)}`;
}
