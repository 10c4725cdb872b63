import type { Command } from 'commander';
import { type ActivityOptions, createActivity, showActivity } from '../../commands/activity.ts';
import { CliError } from '../../errors/cli-error.ts';
import { withRequestTimeout } from '../../options/resource-options.ts';
import { withUnnamedOutput } from '../../output/format.ts';

/**
 * The decisions of a cluster, which its management API collects: gateways show them to holders of a separate token,
 * and the API server passes no such token on.
 */
export function addClusterActivity(program: Command): void {
  const command = createActivity(program)
    .option('--server <url>', 'origin of the management API of the installation')
    .option('--token-file <file>', 'file with a platform token of an administrator');
  withUnnamedOutput(withRequestTimeout(command)).action(async (options: ActivityOptions) => {
    if (options.server === undefined || options.tokenFile === undefined) {
      throw new CliError(
        'usage',
        'The management API shows decisions: give --server and --token-file. "kubectl port-forward service/portcullis-management 8081:80" makes it reachable at http://127.0.0.1:8081.',
      );
    }
    await showActivity({ ...options, via: 'api' });
  });
}
