import { type Command, InvalidArgumentError } from 'commander';
import { isName } from '#identity/validate-claims';
import { CliError } from '../errors/cli-error.ts';
import { originOf, tokenOf } from '../http/server-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { createRetrievalClient, type RetrievalClient } from './retrieval-client.ts';

/** Address of the retrieval service, and the person who calls it. */
export type RetrievalOptions = {
  readonly data?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly as?: string;
  readonly groups?: readonly string[];
  readonly tenant: string;
  readonly requestTimeout: number;
};

const defaultTenant = 'default';

export function withRetrievalOptions(command: Command): Command {
  return withRequestTimeout(
    command
      .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
      .option('--server <url>', 'origin of another retrieval service')
      .option('--token-file <file>', 'file with the token of the caller; the service is in production mode')
      .option('--as <person>', 'person who calls a service in development mode (default: PORTCULLIS_AS)', readName)
      .option('--groups <names>', 'groups of this person, separated by commas', readNames)
      .option('--tenant <name>', 'tenant of the documents', readName, defaultTenant),
  );
}

/** @throws CliError not_running, usage, not_found */
export function openRetrievalClient(options: RetrievalOptions): RetrievalClient {
  const identity = identityOf(options);
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

/** A token and the headers of development mode are never sent together. */
function identityOf({ tokenFile, as, groups, tenant }: RetrievalOptions) {
  if (tokenFile !== undefined) {
    if (as === undefined && groups === undefined) {
      const token = tokenOf(tokenFile);
      return async () => ({ authorization: `Bearer ${await token()}` });
    }
    throw new CliError('usage', '--token-file says who calls: leave out --as and --groups.');
  }
  const person = as ?? process.env['PORTCULLIS_AS'];
  if (person === undefined || !isName(person)) {
    throw new CliError('usage', 'Name the caller: --as PERSON in development mode, else --token-file FILE.');
  }
  const headers = {
    'x-tenant-id': headerValue(tenant),
    'x-user-id': headerValue(person),
    ...(groups === undefined ? {} : { 'x-groups': groups.map(headerValue).join(',') }),
  };
  return () => Promise.resolve(headers);
}

/** fetch takes header values as Latin-1; the service reads their bytes as UTF-8. */
function headerValue(name: string): string {
  return Buffer.from(name, 'utf8').toString('latin1');
}

function readName(text: string): string {
  if (isName(text) && !text.includes(',')) return text;
  throw new InvalidArgumentError('It must be a name without control characters and commas.');
}

function readNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map(readName);
}
