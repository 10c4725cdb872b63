import { type Command, InvalidArgumentError } from 'commander';
import { createPathReader } from '../output/json-path.ts';

/** Options of lists, as kubectl has them. */
export type ListCommandOptions = {
  readonly selector?: string;
  /** Reads the value that resources are sorted by. */
  readonly sortBy?: (value: unknown) => readonly unknown[];
  readonly headers: boolean;
  readonly showLabels?: boolean;
  readonly allNamespaces?: boolean;
};

export function withListOptions(command: Command): Command {
  return withSelector(command)
    .option(
      '--sort-by <path>',
      'sort by the value at a JSONPath, such as .metadata.creationTimestamp',
      createPathReader,
    )
    .option('--no-headers', 'write no header line')
    .option('--show-labels', 'add a column with the labels')
    .option('-A, --all-namespaces', 'list the resources of all namespaces');
}

export function withSelector(command: Command): Command {
  return command.option(
    '-l, --selector <labels>',
    'only resources with these labels, such as team=chat,tier!=test',
    readSelector,
  );
}

/** A selector without a term would select everything, for example where a variable of a script is empty. */
function readSelector(text: string): string {
  if (text.split(',').every((term) => term.trim() !== '')) return text;
  throw new InvalidArgumentError('It must name labels, such as team=chat, separated by single commas.');
}
