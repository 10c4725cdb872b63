import type { Command } from 'commander';
import { type ActivityOptions, createActivity, showActivity } from '../../commands/activity.ts';
import { withRequestTimeout } from '../../options/resource-options.ts';
import { withUnnamedOutput } from '../../output/format.ts';
import { administratorToken, managementOrigin } from './management-of-cluster.ts';

/**
 * The decisions of a cluster, which its management API collects: gateways show them to holders of a separate token,
 * and the API server passes no such token on.
 */
export function addClusterActivity(program: Command): void {
  const command = createActivity(program)
    .requiredOption('--server <url>', managementOrigin)
    .requiredOption('--token-file <file>', administratorToken);
  withUnnamedOutput(withRequestTimeout(command)).action((options: ActivityOptions) =>
    showActivity({ ...options, via: 'api' }),
  );
}
