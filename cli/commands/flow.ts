import type { Command } from 'commander';
import type { CheckFlowOptions, GraphOptions, TestFlowOptions } from '../flows/flow-actions.ts';
import type { PublishOptions } from '../flows/publish-flow.ts';
import type { EvaluateOptions, RunOptions } from '../flows/run-actions.ts';
import type { VersionOptions } from '../flows/version-of-folder.ts';
import { defaultTenant, readCallerName, readCallerNames } from '../http/caller-options.ts';
import { withConfirm } from '../options/confirm-option.ts';
import { readFilePath } from '../options/file-path.ts';
import { readJsonObject } from '../options/json-object.ts';
import { withMessage } from '../options/message-option.ts';
import { withRequestTimeout } from '../options/resource-options.ts';
import { readScore } from '../options/score-option.ts';
import { withDefaultWait } from '../options/wait-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { withOutput, withUnnamedOutput } from '../output/format.ts';

/** Loaded only when a flow command runs, so that other commands and completions do not load the schema engine. */
const actions = () => import('../flows/flow-actions.ts');
const runs = () => import('../flows/run-actions.ts');

const runSeconds = { least: 1, most: 900, usual: 120 } as const;

export function addFlow(program: Command): void {
  const flow = program.command('flow').description('flows of agents: write, check, test, draw, run and publish them');
  flow
    .command('init')
    .description('write a flow, its tests and its publish manifest into a new folder')
    .argument('<folder>', 'folder to create; its name becomes the name of the flow')
    .action(async (folder: string) => (await actions()).initFlow(folder));
  const check = withFlow(flow.command('check'))
    .description('check a flow as the platform does, and print its digest')
    .option('--manifest <file>', 'publish manifest to compare with the flow')
    .option('--tests <file>', 'tests to read; they are not run');
  withUnnamedOutput(check).action(async (file: string, options: CheckFlowOptions) =>
    (await actions()).checkFlow(file, options),
  );
  const test = withFlow(flow.command('test'))
    .description('run the tests of a flow; every call gets the answer that the test gives it')
    .option('--tests <file>', 'file of the tests (default: tests.yaml in the folder of the flow)');
  withUnnamedOutput(test).action(async (file: string, options: TestFlowOptions) =>
    (await actions()).testFlow(file, options),
  );
  const run = withCaller(withFlow(flow.command('run')))
    .description('run a flow against the running platform, and print each node and the result')
    .option('-m, --message <text>', 'text for the member that receives the message of a client')
    .option('--input <json>', 'structured input, a JSON object', readJsonObject)
    .option(
      '--file <path>',
      'file for the member "file" of the input, or MEMBER=PATH for another member; may be repeated',
      readFilePath,
    )
    .option('--entrypoint <name>', 'entry point (default: the first one of the flow)');
  withUnnamedOutput(run).action(async (file: string, options: RunOptions) => (await runs()).runFlowFile(file, options));
  const evaluate = withCaller(withFlow(flow.command('eval')))
    .description('run the judged cases of a flow against the running platform, and print their scores')
    .option('--cases <file>', 'file of the cases (default: eval.yaml in the folder of the flow)')
    .option('--min-score <number>', 'mean score, from 0 to 1, below which the command fails', readScore, 0);
  withUnnamedOutput(evaluate).action(async (file: string, options: EvaluateOptions) =>
    (await runs()).evaluateFlowFile(file, options),
  );
  flow
    .command('version')
    .description('print the files of a folder as an AgentVersion, with the digest and the schemas of the flow')
    .argument('<dir>', 'folder with flow.yaml, manifest.yaml and tests.yaml')
    .option('--name <word>', 'name of the resource (default: the name of the agent and the version of the flow)')
    .option('--subflows <dir>', 'folder with the flows that subflow nodes name by their digests')
    .action(async (folder: string, options: VersionOptions) => (await actions()).printVersion(folder, options));
  const publish = flow
    .command('publish')
    .description(
      'apply the files of a folder as an AgentVersion, have its Agent serve it, and wait until it is served; asks before texts lose their checks',
    )
    .argument('<dir>', 'folder with flow.yaml, manifest.yaml and tests.yaml')
    .option('--name <word>', 'name of the version (default: the name of the agent and the version of the flow)')
    .option('--subflows <dir>', 'folder with the flows that subflow nodes name by their digests')
    .option('--as <person>', 'owner of a new Agent, who may call it (default: PORTCULLIS_AS)', readCallerName)
    .option('--allow <persons>', 'further persons with the right to find and call the agent', readCallerNames)
    .option('--everyone', 'let every caller find and call it over A2A')
    .option('--tenant <name>', 'tenant of the persons', readCallerName, defaultTenant)
    .option('--workspace <name>', 'workspace of the Agent (default: that of the Agent, or the tenant)', readCallerName)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withMessage(
    withConfirm(withDefaultWait(withRequestTimeout(withOutput(publish)), 'how long to wait until it is served')),
  ).action(async (folder: string, options: PublishOptions) =>
    (await import('../flows/publish-flow.ts')).publishFlow(folder, options),
  );
  withFlow(flow.command('graph'))
    .description('draw a flow as SVG')
    .option('--out <file>', 'file to write (default: standard output)')
    .action(async (file: string, options: GraphOptions) => (await actions()).graphFlow(file, options));
}

function withFlow(command: Command): Command {
  return command
    .argument('<file>', 'file with a flow, in YAML or JSON')
    .option('--subflows <dir>', 'folder with the flows that subflow nodes name by their digests');
}

/** The platform that a flow calls, the person for whom it does, and the limits of a run. */
function withCaller(command: Command): Command {
  const { least, most, usual } = runSeconds;
  return command
    .option('--as <person>', 'person who calls (default: PORTCULLIS_AS)', readCallerName)
    .option('--groups <names>', 'groups of this person, separated by commas', readCallerNames)
    .option('--tenant <name>', 'tenant of the person (default: default, or that of the token)', readCallerName)
    .option('--session <id>', 'session whose state nodes read and write (default: a new one)', readCallerName)
    .option('--timeout <seconds>', 'longest duration of a run', wholeNumber(least, most, 'seconds'), usual)
    .option('--allow-unreachable', 'start even if the flow uses a service that cannot be called from here')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
    .option('--gateway <url>', 'origin of the gateway of another platform, for models and agents')
    .option('--key-file <file>', 'file with a client key of that gateway, for models')
    .option('--retrieval <url>', 'origin of the retrieval service of that platform')
    .option('--memory <url>', 'origin of the memory service of that platform')
    .option('--token-file <file>', 'file with the token of the person on that platform, for calls of agents')
    .option(
      '--service-token-file <file>',
      'file with the token of the person with an act chain, for collections and memories',
    );
}
