import { type Command, InvalidArgumentError, Option } from 'commander';
import { managementLimits } from '#contracts/management';
import { CliError } from './errors/cli-error.ts';
import { withServerOptions } from './http/server-options.ts';
import { isOverApi } from './management/is-over-api.ts';
import { createWarningWriter } from './management/warning-writer.ts';
import { withMessage } from './options/message-option.ts';
import { defaultNamespace } from './options/resource-options.ts';
import { writeWarning } from './output/write.ts';
import type { OpenedResources, ResourceSource, SourceOptions } from './resources/resource-source.ts';
import type { ResourceWriter } from './resources/resource-writer.ts';

const { min, max } = managementLimits.idempotencyKey;
const form = new RegExp(`^[A-Za-z0-9._~-]{${min},${max}}$`);

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
  addWriteOptions: (command) => withMessage(withOverride(withIdempotencyKey(command))),
  async open(options) {
    // Half of the modules of the command line; many commands open no resources.
    if (isOverApi(options)) return (await import('./management/open-api.ts')).openApi(options);
    const { runningPlatform } = await import('./platform/running-platform.ts');
    const { openPlatform } = await import('./platform/open-platform.ts');
    const opened = openPlatform(runningPlatform(options.data), options);
    return options.isDryRun === true ? opened : { ...opened, writer: warningWriter(opened, options) };
  },
  async openLogs(options) {
    if (isOverApi(options)) {
      throw new CliError('usage', 'The management API does not show logs: repeat the command with --via resources.');
    }
    return (await import('./platform/open-local-logs.ts')).openLocalLogs(options);
  },
};

/** The rules are read after a write only: most commands need neither them nor the modules of the management API. */
function warningWriter(opened: OpenedResources, { data }: SourceOptions): ResourceWriter {
  return createWarningWriter(opened, {
    readRules: async () => (await import('./management/read-command-rules.ts')).readCommandRules(data),
    now: () => new Date(),
    warn: writeWarning,
  });
}

/** Adds the option for the Idempotency-Key of a command; without the option every run has a new key. */
function withIdempotencyKey(command: Command): Command {
  return command.option(
    '--idempotency-key <key>',
    'key of a repeated command: the same key has one effect (default: a new key)',
    readKey,
  );
}

function withOverride(command: Command): Command {
  return command.option(
    '--override-freeze',
    'with --via api: override a freeze window; requires an administrator and is recorded',
  );
}

function readKey(text: string): string {
  if (form.test(text)) return text;
  throw new InvalidArgumentError(
    `It must have ${min} to ${max} characters of A-Z, a-z, 0-9, dot, underscore, ~ and -.`,
  );
}
