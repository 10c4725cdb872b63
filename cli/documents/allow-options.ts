import type { Command } from 'commander';

/** The access list of documents. */
export type AllowOptions = { readonly allowGroup?: readonly string[]; readonly allowPerson?: readonly string[] };

export function withAllowOptions(command: Command): Command {
  return command
    .option('--allow-group <name>', 'group that may read the documents; can be repeated', collect)
    .option('--allow-person <name>', 'person who may read the documents; can be repeated', collect);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
