import { Option } from 'commander';
import { withIdempotencyKey } from './management/idempotency-option.ts';
import { isOverApi } from './management/is-over-api.ts';
import { withServerOptions } from './management/management-options.ts';
import { openApi } from './management/open-api.ts';
import { withMessage } from './options/message-option.ts';
import { defaultNamespace, openPlatform } from './platform/open-platform.ts';
import { runningPlatform } from './platform/running-platform.ts';
import type { ResourceSource } from './resources/resource-source.ts';

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
