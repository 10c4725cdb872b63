import { InvalidArgumentError } from 'commander';
import { typedCommand } from '../command-line/typed-command.ts';

/** Parses the number of a revision. */
export function parseRevisionNumber(text: string): number {
  const revision = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (revision < 1) {
    throw new InvalidArgumentError(
      `It must be the number of a revision, 1 or more: ${typedCommand('history POLICY')} lists the revisions.`,
    );
  }
  return revision;
}
