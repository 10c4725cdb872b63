import { type Command, InvalidArgumentError } from 'commander';
import { managementLimits } from '#contracts/management';

const { min, max } = managementLimits.idempotencyKey;
const form = new RegExp(`^[A-Za-z0-9._~-]{${min},${max}}$`);

/** Adds the Idempotency-Key of a command; every run has a new one if it is absent. */
export function withIdempotencyKey(command: Command): Command {
  return command.option(
    '--idempotency-key <key>',
    'key of a repeated command: the same key has one effect (default: a new key)',
    readKey,
  );
}

function readKey(text: string): string {
  if (form.test(text)) return text;
  throw new InvalidArgumentError(
    `It must have ${min} to ${max} characters of A-Z, a-z, 0-9, dot, underscore, ~ and -.`,
  );
}
