import type { Command } from 'commander';
import { activityTable } from '../activity/activity-text.ts';
import { readPolicyNames } from '../activity/policy-names.ts';
import { readActivity } from '../activity/read-activity.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';
import { runningPlatform } from '../platform/running-platform.ts';

type ActivityOptions = OutputOptions & {
  readonly data?: string;
  readonly model?: string;
  readonly request?: string;
  readonly limit: number;
};

export function addActivity(program: Command): void {
  const command = program
    .command('activity')
    .description('show the newest decisions of the gateways, with the rule that decided; no text is kept')
    .option('--model <alias>', 'only requests to this alias')
    .option('--request <id>', 'only the request with this x-request-id')
    .option('--limit <number>', 'how many decisions at most', wholeNumber(1, 10_000), 20)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withOutput(command).action(activity);
}

async function activity(options: ActivityOptions): Promise<void> {
  const { model, request, limit } = options;
  const platform = runningPlatform(options.data);
  const { items, missing } = await readActivity(platform);
  const shown = items
    .filter(
      (one) => (model === undefined || one.model === model) && (request === undefined || one.requestId === request),
    )
    .slice(0, limit);
  for (const reason of missing) process.stderr.write(`portcullis: warning: decisions are missing: ${reason}\n`);
  const nameOf = await readPolicyNames(platform);
  const named = shown.map((one) => ({ ...one, policy: nameOf(one.policyId) }));
  writeResult(formatOf(options), { items: named, missing }, (isWide) =>
    shown.length === 0
      ? 'There is no such decision: a gateway forgets them when it restarts.'
      : activityTable(shown, nameOf, isWide),
  );
}
