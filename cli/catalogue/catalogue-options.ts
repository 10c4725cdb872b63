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
import { type CatalogueClient, createCatalogueClient } from './catalogue-client.ts';

/** Address of the agent catalogue, and the person who calls it. */
export type CatalogueOptions = ServiceOptions & Omit<CallerOptions, 'tenant'> & { readonly tenant?: string };

export function withCatalogueOptions(command: Command): Command {
  return withRequestTimeout(
    withServiceOptions(command, 'catalogue')
      .option('--groups <names>', 'groups of the person in development mode, separated by commas', readCallerNames)
      .option('--tenant <name>', 'tenant whose groups count (default: that of the token)', readCallerName),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openCatalogueClient(options: CatalogueOptions): CatalogueClient {
  const tenant = options.tenant ?? (options.tokenFile === undefined ? defaultTenant : undefined);
  const identity = callerIdentity({ ...options, tenant });
  const origin = serviceOrigin(options, 'catalogue');
  return createCatalogueClient({ origin, identity, timeoutMs: options.requestTimeout * 1_000 });
}
