import type { Command } from 'commander';
import { CliError } from '../errors/cli-error.ts';
import { readCallerName } from '../http/caller-options.ts';
import { originOf } from '../http/server-options.ts';
import { restartWith, runningPlatform } from '../platform/running-platform.ts';

const titles = { retrieval: 'retrieval service', memory: 'memory service', catalogue: 'agent catalogue' } as const;
type DataService = keyof typeof titles;

/** Address of a service of the data plane. */
export type ServiceOptions = {
  readonly data?: string;
  readonly server?: string;
  readonly requestTimeout: number;
};

/** The options for the origin of the service and for the person who calls it. */
export function withServiceOptions(command: Command, service: DataService): Command {
  return command
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
    .option('--server <url>', `origin of another ${titles[service]}`)
    .option('--token-file <file>', 'file with the token of the caller, for a service in production mode')
    .option('--as <person>', 'person who calls a service in development mode (default: PORTCULLIS_AS)', readCallerName);
}

/**
 * Origin of the service: from `--server`, else from the platform that runs on this machine. @throws CliError
 * not_running, usage
 */
export function serviceOrigin({ server, data }: ServiceOptions, service: DataService): string {
  if (server !== undefined) return originOf(server);
  const { status, data: directory } = runningPlatform(data);
  const origin = status.addresses[service];
  if (origin !== undefined) return origin;
  const reason = status[`${service}Off`] ?? restartWith(`--${service}`);
  throw new CliError('not_running', `The ${titles[service]} of ${directory.root} does not run: ${reason}`);
}
