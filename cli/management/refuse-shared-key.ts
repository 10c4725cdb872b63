import { CliError } from '../errors/cli-error.ts';

/** The second command with the key of the first one would be a conflict, after the first was sent. @throws CliError usage */
export function refuseSharedKey({ idempotencyKey }: { readonly idempotencyKey?: string }, commands: number): void {
  if (idempotencyKey === undefined || commands < 2) return;
  throw new CliError(
    'usage',
    `--idempotency-key is the key of one command, and this would be ${commands}: name one resource, or leave out the key.`,
  );
}
