import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { type CallerOptions, callerIdentity, defaultTenant, readCallerName } from '../http/caller-options.ts';
import { originOf } from '../http/server-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { createMemoryClient, type MemoryClient } from './memory-client.ts';

/** Address of the memory service, and the person whose memories are meant. */
export type MemoryOptions = Omit<CallerOptions, 'groups'> & {
  readonly data?: string;
  readonly server?: string;
  readonly requestTimeout: number;
};

export function withMemoryOptions(command: Command): Command {
  return withRequestTimeout(
    command
      .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
      .option('--server <url>', 'origin of another memory service')
      .option('--token-file <file>', 'file with the token of the caller; the service is in production mode')
      .option(
        '--as <person>',
        'person who calls a service in development mode (default: PORTCULLIS_AS)',
        readCallerName,
      )
      .option('--tenant <name>', 'tenant of the person', readCallerName, defaultTenant),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openMemoryClient(options: MemoryOptions): MemoryClient {
  const identity = callerIdentity(options);
  return createMemoryClient({ origin: addressOf(options), identity, timeoutMs: options.requestTimeout * 1_000 });
}

/** The person that an option names; undefined where a token does. */
export function namedPerson({ as, tokenFile }: Pick<MemoryOptions, 'as' | 'tokenFile'>): string | undefined {
  return tokenFile === undefined ? (as ?? process.env['PORTCULLIS_AS']) : undefined;
}

function addressOf({ server, data }: MemoryOptions): string {
  if (server !== undefined) return originOf(server);
  const { status, data: directory } = runningPlatform(data);
  const { memory } = status.addresses;
  if (memory !== undefined) return memory;
  const reason = status.memoryOff ?? 'start the platform with "portcullis up --memory".';
  throw new CliError('not_running', `The memory service of ${directory.root} does not run: ${reason}`);
}
