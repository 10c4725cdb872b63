import type { Command } from 'commander';
import { tracedRunListSchema, tracedRunSchema } from '#contracts/agent-runs';
import { findAgentAddress } from '../agents/find-agent-address.ts';
import { readRuns } from '../agents/read-runs.ts';
import { runsText, traceText } from '../agents/runs-text.ts';
import { defaultTenant, personIdentity, readCallerName, readCallerNames } from '../http/caller-options.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { formatOf, type OutputOptions, withOutput, withUnnamedOutput, writeResult } from '../output/format.ts';
import { escapeControls } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';
import { runningPlatform } from '../platform/running-platform.ts';

type RunsOptions = OutputOptions & {
  readonly as?: string;
  readonly groups?: readonly string[];
  readonly tenant: string;
  readonly data?: string;
  readonly requestTimeout: number;
};

/** Traces of runs, as far as the process of a version keeps them. */
export function addAgentRuns(agent: Command): void {
  const runs = agent
    .command('runs')
    .description('list the newest runs of an agent: your own, or for its owner all')
    .argument('<agent>', 'name of an Agent, or of an AgentVersion');
  withOutput(withCaller(runs)).action(async (name: string, options: RunsOptions) => {
    const list = await readRuns(tracedRunListSchema, await readOf('agent runs', name, options));
    writeNamed(formatOf(options), {
      value: list,
      names: list.runs.map(({ runId }) => runId),
      text: () => escapeControls(runsText(list, name)),
    });
  });
  const trace = agent
    .command('trace')
    .description('show the nodes of one run with start, duration and outcome')
    .argument('<agent>', 'name of an Agent, or of an AgentVersion')
    .argument('<run>', 'id of the run, as "agent runs" shows it');
  withUnnamedOutput(withCaller(trace)).action(async (name: string, runId: string, options: RunsOptions) => {
    const run = await readRuns(tracedRunSchema, { ...(await readOf('agent trace', name, options)), runId });
    writeResult(formatOf(options), run, () => escapeControls(traceText(run)));
  });
}

function withCaller(command: Command): Command {
  command
    .option('--as <person>', 'person whose rights apply (default: PORTCULLIS_AS)', readCallerName)
    .option('--groups <names>', 'groups of this person, separated by commas', readCallerNames)
    .option('--tenant <name>', 'tenant of the person', readCallerName, defaultTenant)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  return withRequestTimeout(command);
}

async function readOf(command: 'agent runs' | 'agent trace', name: string, options: RunsOptions) {
  const identity = await personIdentity(command, options)();
  const platform = runningPlatform(options.data);
  const to = await findAgentAddress(platform, name, options.requestTimeout);
  const isProcess = platform.status.addresses.agents === undefined;
  return { to: { ...to, isProcess }, identity, timeoutSeconds: options.requestTimeout };
}
