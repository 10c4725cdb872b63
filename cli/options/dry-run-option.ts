import { type Command, Option } from 'commander';

/** `client` sends nothing; with `server` the server checks the write and stores nothing. */
export type DryRunOption = { readonly dryRun?: 'client' | 'server' };

export function withDryRun(command: Command): Command {
  return command.addOption(
    new Option(
      '--dry-run <mode>',
      'change nothing: compare only (client), or let the server check too (server)',
    ).choices(['client', 'server']),
  );
}

/** What is written behind a result that was not stored. */
export function dryRunSuffix({ dryRun }: DryRunOption): string {
  if (dryRun === undefined) return '';
  return dryRun === 'server' ? ' (server dry run)' : ' (dry run)';
}
