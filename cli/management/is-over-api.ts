import { CliError } from '../errors/cli-error.ts';
import type { SourceOptions } from '../resources/resource-source.ts';

/** @throws CliError usage for options that need the API */
export function isOverApi({ via, server, tokenFile, idempotencyKey, overrideFreeze }: SourceOptions): boolean {
  if ((via ?? (server === undefined ? 'resources' : 'api')) === 'api') return true;
  const [option] = [
    server === undefined ? [] : ['--server'],
    tokenFile === undefined ? [] : ['--token-file'],
    idempotencyKey === undefined ? [] : ['--idempotency-key'],
    overrideFreeze === undefined ? [] : ['--override-freeze'],
  ].flat();
  if (option !== undefined) throw new CliError('usage', `${option} belongs to the management API: add --via api.`);
  return false;
}
