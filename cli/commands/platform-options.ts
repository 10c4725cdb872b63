import type { Command } from 'commander';

/** Options of every command that speaks to a running platform. */
export type PlatformCommandOptions = {
  readonly data?: string;
  readonly namespace: string;
  readonly json?: boolean;
};

export function withPlatformOptions(command: Command): Command {
  return withJson(command)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
    .option('-n, --namespace <name>', 'namespace of the resources', 'default');
}

export function withJson(command: Command): Command {
  return command.option('--json', 'write the result, or the error, as JSON');
}
