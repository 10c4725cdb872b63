import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ResourceSource, SourceOptions } from '../resources/resource-source.ts';

/** Options of every command that calls a resource server. */
export type ResourceCommandOptions = SourceOptions;

const defaultSeconds = 10;

export function withResourceOptions(command: Command, source: ResourceSource): Command {
  return withRequestTimeout(source.addOptions(command));
}

export function withRequestTimeout(command: Command): Command {
  return command.addOption(
    new Option('--request-timeout <seconds>', 'timeout of one request').argParser(readSeconds).default(defaultSeconds),
  );
}

function readSeconds(text: string): number {
  const seconds = Number(/^(\d{1,4})s?$/.exec(text)?.[1] ?? 0);
  if (seconds < 1) throw new InvalidArgumentError('It must be a whole number of seconds from 1 to 9999.');
  return seconds;
}
