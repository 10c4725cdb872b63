import { type Command, InvalidArgumentError } from 'commander';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import type { LogName, LogReader, LogSelection } from '../logs/log-reader.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { writeText } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { untilInterrupted } from '../watching/interruption.ts';

type LogsOptions = ResourceCommandOptions & {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly since?: number;
};

/** Lines of each log when several are shown, as in kubectl. */
const tailOfSeveral = 10;

export function addLogs(program: Command, source: ResourceSource): void {
  const command = program
    .command('logs')
    .description('print the log of a process or pod, of a component such as gateway, or of a workload')
    .argument('[process]', 'a process or pod, a component or a workload; everything if absent');
  withResourceOptions(command, source)
    .option('-f, --follow', 'print new lines until Ctrl-C')
    .option(
      '--tail <lines>',
      `lines from the end (default: all; ${tailOfSeveral} of each of several logs)`,
      wholeNumber(0, 999_999, 'lines'),
    )
    .option('--since <duration>', 'only lines of the last 30s, 10m or 2h', readDuration)
    .action((word: string | undefined, options: LogsOptions) => logs(source, word, options));
}

async function logs(source: ResourceSource, word: string | undefined, options: LogsOptions): Promise<void> {
  await using resources = await source.open(options);
  const reader = resources.logs;
  if (reader === undefined) {
    throw new CliError('usage', 'The management API does not show logs: repeat the command with --via resources.');
  }
  const names = selectLogs(await reader.list(), word);
  using interruption = untilInterrupted();
  const { follow = false, tail = names.length > 1 ? tailOfSeveral : undefined, since } = options;
  const selection: LogSelection = {
    follow,
    signal: interruption.signal,
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { sinceSeconds: since }),
  };
  if (follow) await Promise.all(names.map(({ name }) => print(reader, name, selection, names.length > 1)));
  else for (const { name } of names) await print(reader, name, selection, names.length > 1);
}

/** With several logs, each line has the name of its log as a prefix. */
async function print(reader: LogReader, name: string, selection: LogSelection, isNamed: boolean): Promise<void> {
  for await (const line of reader.read(name, selection)) {
    if (selection.signal.aborted) return;
    writeText(isNamed ? `[${name}] ${line}` : line);
  }
}

/** @throws CliError not_found with the names that exist */
function selectLogs(all: readonly LogName[], word: string | undefined): readonly LogName[] {
  const wanted = word?.replace(/^(?:pods?|workloads?|runtimeworkloads?|rwl)\//, '');
  const named = all.filter(({ name }) => name === wanted || name.startsWith(`${wanted}/`));
  const found =
    named.length > 0 ? named : all.filter(({ component, workload }) => wanted === component || wanted === workload);
  if (wanted === undefined) return all;
  if (found.length > 0) return found;
  const names = [...new Set(all.flatMap(({ name, component }) => [component, name]))].toSorted();
  throw new CliError(
    'not_found',
    `There is no log of ${JSON.stringify(wanted)}; there are ${names.join(', ')}.${didYouMean(wanted, names)}`,
  );
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

function readDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const seconds = Number(number) * (units[unit] ?? 0);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be a number with a unit, such as 30s, 10m or 2h.');
}
