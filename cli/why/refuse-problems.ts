import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import type { FoundProblem } from './find-problems.ts';

export type CheckOption = { readonly check?: boolean };

/** Adds `--check`, with which the exit code tells a script whether there is a problem. */
export function withCheck(command: Command): Command {
  return command.option('--check', 'exit with code 1 if there is a problem');
}

/** Must be called after the status was written. @throws CliError failed */
export function refuseProblems(problems: readonly FoundProblem[], { check }: CheckOption): void {
  if (check !== true || problems.length === 0) return;
  const parts = [...new Set(problems.map(({ part }) => part))].join(', ');
  throw new CliError(
    'failed',
    `The status has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}: ${parts}.`,
  );
}
