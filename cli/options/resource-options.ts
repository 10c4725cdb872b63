import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ResourceSource, SourceOptions } from '../resources/resource-source.ts';

/** Options of every command that calls a resource server. */
export type ResourceCommandOptions = SourceOptions;

/** The only namespace of a platform on one machine. */
export const defaultNamespace = 'default';

const defaultSeconds = 10;

export function withResourceOptions(command: Command, source: ResourceSource): Command {
  return withRequestTimeout(source.addOptions(command));
}

/** Adds `--request-timeout`; a request that waits for a model or an agent has its own default. */
export function withRequestTimeout(
  command: Command,
  { seconds = defaultSeconds, description = 'timeout of one request' } = {},
): Command {
  return command.addOption(
    new Option('--request-timeout <seconds>', description).argParser(readSeconds).default(seconds),
  );
}

function readSeconds(text: string): number {
  const seconds = Number(/^(\d{1,4})s?$/.exec(text)?.[1] ?? 0);
  if (seconds < 1) throw new InvalidArgumentError('It must be a whole number of seconds from 1 to 9999.');
  return seconds;
}
