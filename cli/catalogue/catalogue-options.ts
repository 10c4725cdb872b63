import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import {
  type CallerOptions,
  callerIdentity,
  defaultTenant,
  readCallerName,
  readCallerNames,
} from '../http/caller-options.ts';
import { originOf } from '../http/server-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { type CatalogueClient, createCatalogueClient } from './catalogue-client.ts';

/** Address of the agent catalogue, and the person who asks. */
export type CatalogueOptions = Omit<CallerOptions, 'tenant'> & {
  readonly tenant?: string;
  readonly data?: string;
  readonly server?: string;
  readonly requestTimeout: number;
};

export function withCatalogueOptions(command: Command): Command {
  return withRequestTimeout(
    command
      .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
      .option('--server <url>', 'origin of another agent catalogue')
      .option('--token-file <file>', 'file with the token of the caller; the service is in production mode')
      .option(
        '--as <person>',
        'person who calls a service in development mode (default: PORTCULLIS_AS)',
        readCallerName,
      )
      .option('--groups <names>', 'groups of the person in development mode, separated by commas', readCallerNames)
      .option('--tenant <name>', 'tenant whose groups count (default: that of the token)', readCallerName),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openCatalogueClient(options: CatalogueOptions): CatalogueClient {
  const tenant = options.tenant ?? (options.tokenFile === undefined ? defaultTenant : undefined);
  const identity = callerIdentity({ ...options, tenant });
  return createCatalogueClient({ origin: addressOf(options), identity, timeoutMs: options.requestTimeout * 1_000 });
}

function addressOf({ server, data }: CatalogueOptions): string {
  if (server !== undefined) return originOf(server);
  const { status, data: directory } = runningPlatform(data);
  const { catalogue } = status.addresses;
  if (catalogue !== undefined) return catalogue;
  const reason = status.catalogueOff ?? 'start the platform with "portcullis up --catalogue".';
  throw new CliError('not_running', `The agent catalogue of ${directory.root} does not run: ${reason}`);
}
