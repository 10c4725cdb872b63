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
import { createRetrievalClient, type RetrievalClient } from './retrieval-client.ts';

/** Address of the retrieval service, and the person who calls it. */
export type RetrievalOptions = CallerOptions & {
  readonly data?: string;
  readonly server?: string;
  readonly requestTimeout: number;
};

export function withRetrievalOptions(command: Command): Command {
  return withRequestTimeout(
    command
      .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
      .option('--server <url>', 'origin of another retrieval service')
      .option('--token-file <file>', 'file with the token of the caller; the service is in production mode')
      .option(
        '--as <person>',
        'person who calls a service in development mode (default: PORTCULLIS_AS)',
        readCallerName,
      )
      .option('--groups <names>', 'groups of this person, separated by commas', readCallerNames)
      .option('--tenant <name>', 'tenant of the documents', readCallerName, defaultTenant),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openRetrievalClient(options: RetrievalOptions): RetrievalClient {
  const identity = callerIdentity(options);
  const timeoutMs = options.requestTimeout * 1_000;
  return createRetrievalClient({ origin: addressOf(options), identity, timeoutMs });
}

function addressOf({ server, data }: RetrievalOptions): string {
  if (server !== undefined) return originOf(server);
  const { status, data: directory } = runningPlatform(data);
  const { retrieval } = status.addresses;
  if (retrieval !== undefined) return retrieval;
  const reason = status.retrievalOff ?? 'start the platform with "portcullis up --retrieval".';
  throw new CliError('not_running', `The retrieval service of ${directory.root} does not run: ${reason}`);
}
