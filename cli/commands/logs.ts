import { type Command, InvalidArgumentError } from 'commander';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import type { LogName, LogReader, LogSelection } from '../logs/log-reader.ts';
import { type ResourceCommandOptions, withResourceOptions } from '../options/resource-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { writeText, writeWarning } from '../output/write.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { untilInterrupted } from '../watching/interruption.ts';

type LogsOptions = ResourceCommandOptions & {
  readonly follow?: boolean;
  readonly previous?: true;
  readonly tail?: number;
  readonly since?: number;
};

/** Lines of each log when several are shown, as in kubectl. */
const tailOfSeveral = 10;

export function addLogs(program: Command, source: ResourceSource): void {
  createLogs(program, source);
}

/** The command without the options that only some installations have. */
export function createLogs(program: Command, source: ResourceSource): Command {
  const command = program
    .command('logs')
    .description('print the log of a process or pod, of a component such as gateway, or of a workload')
    .argument('[process]', 'a process or pod, a component or a workload; everything if absent');
  return withResourceOptions(command, source)
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
  const { follow = false, previous, since } = options;
  if (follow && previous === true) {
    throw new CliError('usage', 'A container that has ended writes no new lines: leave out --follow or --previous.');
  }
  await using opened = await source.openLogs(options);
  const { logs: reader, ended } = opened;
  const names = selectLogs(await reader.list(), word);
  if (ended !== undefined) writeWarning(ended);
  using interruption = untilInterrupted();
  const { tail = names.length > 1 ? tailOfSeveral : undefined } = options;
  const selection: LogSelection = {
    follow,
    signal: interruption.signal,
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { sinceSeconds: since }),
    ...(previous === undefined ? {} : { previous }),
  };
  await printAll(reader, names, selection);
}

/**
 * Prints several logs. Each line begins with the name of its log, and a log without content does not end the others.
 * @throws CliError not_found if no log has content
 */
async function printAll(reader: LogReader, names: readonly LogName[], selection: LogSelection): Promise<void> {
  const [only, ...others] = names;
  if (only === undefined) return;
  if (others.length === 0) return print(reader, only.name, selection, '');
  const absent: string[] = [];
  const printNamed = ({ name }: LogName): Promise<void> =>
    print(reader, name, selection, `[${name}] `).catch((error: unknown) => {
      if (!(error instanceof CliError) || error.exit !== 'not_found') throw error;
      absent.push(name);
      writeWarning(error.message);
    });
  if (selection.follow) await Promise.all(names.map(printNamed));
  else for (const name of names) await printNamed(name);
  if (absent.length === names.length) throw new CliError('not_found', `None of the ${names.length} logs has content.`);
}

async function print(reader: LogReader, name: string, selection: LogSelection, prefix: string): Promise<void> {
  for await (const line of reader.read(name, selection)) {
    if (selection.signal.aborted) return;
    writeText(`${prefix}${line}`);
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
