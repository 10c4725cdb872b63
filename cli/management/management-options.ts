import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { originOf, tokenOf, withServerOptions } from '../http/server-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';
import { type RunningPlatform, runningPlatform } from '../platform/running-platform.ts';
import { firstAdministratorOf, signToken } from '../platform/sign-token.ts';
import { createManagementClient, type ManagementClient } from './client.ts';
import type { ManagementConnection } from './send-request.ts';

/** Address and credentials of the management API. */
export type ManagementCommandOptions = {
  readonly data?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  /** Timeout of one request, seconds. */
  readonly requestTimeout: number;
};

/** The client of the management API, and the platform of this machine unless --server names another one. */
type OpenedManagement = {
  readonly client: ManagementClient;
  readonly connection: ManagementConnection;
  readonly platform: RunningPlatform | undefined;
};

/** Lifetime of the token of one command. */
const ttlSeconds = 300;
const renewAfterMs = 240_000;

export function withManagementOptions(command: Command): Command {
  return withRequestTimeout(
    withServerOptions(
      command.option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)'),
    ),
  );
}

/** @throws CliError not_running, usage */
export function openManagement(options: ManagementCommandOptions): OpenedManagement {
  const timeoutMs = options.requestTimeout * 1_000;
  if (options.server !== undefined) {
    const { tokenFile } = options;
    if (tokenFile === undefined) throw new CliError('usage', '--server needs a token: give --token-file.');
    const connection = { origin: originOf(options.server), token: tokenOf(tokenFile), tokenFile, timeoutMs };
    return { client: createManagementClient(connection), connection, platform: undefined };
  }
  const platform = runningPlatform(options.data);
  const { addresses, managementOff } = platform.status;
  if (addresses.management === undefined) {
    const sentence = `The management API of ${platform.data.root} is off: ${managementOff ?? 'it is not ready.'}`;
    throw new CliError('not_running', sentence);
  }
  const credentials =
    options.tokenFile === undefined
      ? { token: administratorToken(platform) }
      : { token: tokenOf(options.tokenFile), tokenFile: options.tokenFile };
  const connection = { origin: addresses.management, ...credentials, timeoutMs };
  return { client: createManagementClient(connection), connection, platform };
}

/** Signs a new token before the old token expires, so that a command can wait for a long time. */
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
