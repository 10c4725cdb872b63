import { CliError } from '../errors/cli-error.ts';

/**
 * Refuses one key for several commands: the second command with the same key would be a conflict, after the first was
 * already sent. @throws CliError usage
 */
export function refuseSharedKey({ idempotencyKey }: { readonly idempotencyKey?: string }, commands: number): void {
  if (idempotencyKey === undefined || commands < 2) return;
  throw new CliError(
    'usage',
    `--idempotency-key is the key of one command, and this would be ${commands}: name one resource, or leave out the key.`,
  );
}
