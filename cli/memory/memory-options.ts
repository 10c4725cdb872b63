import type { Command } from 'commander';
import { type CallerOptions, callerIdentity, defaultTenant, readCallerName } from '../http/caller-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { type ServiceOptions, serviceOrigin, withServiceOptions } from '../services/service-options.ts';
import { createMemoryClient, type MemoryClient } from './memory-client.ts';

/** Address of the memory service, and the person whose memories are meant. */
export type MemoryOptions = ServiceOptions & Omit<CallerOptions, 'groups'>;

export function withMemoryOptions(command: Command): Command {
  return withRequestTimeout(
    withServiceOptions(command, 'memory').option(
      '--tenant <name>',
      'tenant of the person',
      readCallerName,
      defaultTenant,
    ),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openMemoryClient(options: MemoryOptions): MemoryClient {
  const identity = callerIdentity(options);
  const origin = serviceOrigin(options, 'memory');
  return createMemoryClient({ origin, identity, timeoutMs: options.requestTimeout * 1_000 });
}

/** The person that an option names; undefined where a token does. */
export function namedPerson({ as, tokenFile }: Pick<MemoryOptions, 'as' | 'tokenFile'>): string | undefined {
  return tokenFile === undefined ? (as ?? process.env['PORTCULLIS_AS']) : undefined;
}
