import { Option } from 'commander';
import { CliError } from './errors/cli-error.ts';
import { withIdempotencyKey } from './management/idempotency-option.ts';
import { withServerOptions } from './management/management-options.ts';
import { openApi } from './management/open-api.ts';
import { withMessage } from './options/message-option.ts';
import { defaultNamespace, openPlatform } from './platform/open-platform.ts';
import { runningPlatform } from './platform/running-platform.ts';
import type { ResourceSource, SourceOptions } from './resources/resource-source.ts';

/** The platform that runs on a data directory, or a management API. */
export const standaloneSource: ResourceSource = {
  program: 'portcullis',
  addOptions: (command) =>
    withServerOptions(command)
      .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
      .option('-n, --namespace <name>', 'namespace of the resources', defaultNamespace)
      .addOption(
        new Option(
          '--via <transport>',
          'read and write resources, or the management API (implied by --server)',
        ).choices(['resources', 'api']),
      ),
  addWriteOptions: (command) => withMessage(withIdempotencyKey(command)),
  open: async (options) =>
    isOverApi(options) ? openApi(options) : openPlatform(runningPlatform(options.data), options),
};

/** @throws CliError usage for options that need the API */
export function isOverApi({ via, server, tokenFile, idempotencyKey }: SourceOptions): boolean {
  if ((via ?? (server === undefined ? 'resources' : 'api')) === 'api') return true;
  const [option] = [
    server === undefined ? [] : ['--server'],
    tokenFile === undefined ? [] : ['--token-file'],
    idempotencyKey === undefined ? [] : ['--idempotency-key'],
  ].flat();
  if (option !== undefined) throw new CliError('usage', `${option} belongs to the management API: add --via api.`);
  return false;
}
