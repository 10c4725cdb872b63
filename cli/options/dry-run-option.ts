import { type Command, Option } from 'commander';

/** With `client` no request is sent; with `server` the server validates the write without storing it. */
export type DryRunOption = { readonly dryRun?: 'client' | 'server' };

export function withDryRun(command: Command): Command {
  return command.addOption(
    new Option(
      '--dry-run <mode>',
      'change nothing and do not wait: compare only (client), or let the server check too (server)',
    ).choices(['client', 'server']),
  );
}

/** The suffix of a result that was not stored. */
export function dryRunSuffix({ dryRun }: DryRunOption): string {
  if (dryRun === undefined) return '';
  return dryRun === 'server' ? ' (server dry run)' : ' (dry run)';
}
