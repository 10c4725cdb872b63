import { InvalidArgumentError } from 'commander';

/** The number of a revision, as a person writes it. */
export function parseRevisionNumber(text: string): number {
  const revision = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (revision < 1) throw new InvalidArgumentError('It must be the number of a revision, from 1 on.');
  return revision;
}
