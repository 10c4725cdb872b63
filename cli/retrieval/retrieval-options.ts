import type { Command } from 'commander';
import {
  type CallerOptions,
  callerIdentity,
  defaultTenant,
  readCallerName,
  readCallerNames,
} from '../http/caller-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { type ServiceOptions, serviceOrigin, withServiceOptions } from '../services/service-options.ts';
import { createRetrievalClient, type RetrievalClient } from './retrieval-client.ts';

/** Address of the retrieval service, and the person who calls it. */
export type RetrievalOptions = ServiceOptions & CallerOptions;

export function withRetrievalOptions(command: Command): Command {
  return withRequestTimeout(
    withServiceOptions(command, 'retrieval')
      .option('--groups <names>', 'groups of this person, separated by commas', readCallerNames)
      .option('--tenant <name>', 'tenant of the documents', readCallerName, defaultTenant),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openRetrievalClient(options: RetrievalOptions): RetrievalClient {
  const identity = callerIdentity(options);
  const origin = serviceOrigin(options, 'retrieval');
  return createRetrievalClient({ origin, identity, timeoutMs: options.requestTimeout * 1_000 });
}
