import type { Command } from 'commander';
import { openTokenFile } from '#kit/http/token-file';
import { CliError } from '../errors/cli-error.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import { firstAdministratorOf, signToken } from '../platform/sign-token.ts';
import { createManagementClient, type ManagementClient } from './client.ts';

/** Where the management API is, and as whom it is called. */
export type ManagementOptions = {
  readonly data?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  /** Seconds that one request may take. */
  readonly requestTimeout: number;
};

/** The API, and the platform of this machine where that is the one that is called. */
export type OpenedManagement = { readonly client: ManagementClient; readonly platform: RunningPlatform | undefined };

/** A token of one command of a person. */
const ttlSeconds = 300;
const renewAfterMs = 240_000;

export function withManagementOptions(command: Command): Command {
  return withRequestTimeout(
    command
      .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
      .option('--server <url>', 'another management API, with --token-file (default: that of the data directory)')
      .option('--token-file <file>', 'file of a platform token (default: that of the first administrator)'),
  );
}

/** @throws CliError not_running, usage */
export function openManagement(options: ManagementOptions): OpenedManagement {
  const timeoutMs = options.requestTimeout * 1_000;
  if (options.server !== undefined) {
    const { tokenFile } = options;
    if (tokenFile === undefined) throw new CliError('usage', 'With --server a token is needed: give --token-file.');
    const connection = { origin: originOf(options.server), token: tokenOf(tokenFile), timeoutMs };
    return { client: createManagementClient(connection), platform: undefined };
  }
  const platform = runningPlatform(options.data);
  const { addresses, managementOff } = platform.status;
  if (addresses.management === undefined) {
    const sentence = `The management API of ${platform.data.root} is off: ${managementOff ?? 'it does not serve.'}`;
    throw new CliError('not_running', sentence);
  }
  const token = options.tokenFile === undefined ? administratorToken(platform) : tokenOf(options.tokenFile);
  return { client: createManagementClient({ origin: addresses.management, token, timeoutMs }), platform };
}

/** https, or http on this machine: a token is not sent in the clear over a network. */
function originOf(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const isHere = url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url !== undefined && (url.protocol === 'https:' || isHere) && url.pathname === '/' && url.search === '') {
    return url.origin;
  }
  throw new CliError(
    'usage',
    '--server must be an origin such as https://portcullis.example; http on this machine only.',
  );
}

function tokenOf(path: string): () => Promise<string> {
  const file = openTokenFile(path);
  return async () => file.first();
}

/** Signed anew before it ends, so that a command may wait for long. */
function administratorToken(platform: RunningPlatform): () => Promise<string> {
  const subject = firstAdministratorOf(platform);
  let last: { readonly token: Promise<string>; readonly at: number } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > renewAfterMs) {
      const { audience } = developmentIssuer;
      last = { token: signToken(platform.data, { subject, audience, ttlSeconds }), at: performance.now() };
    }
    return last.token;
  };
}
