import type { Command } from 'commander';
import type { CheckFlowOptions, GraphOptions, TestFlowOptions, VersionOptions } from '../flows/flow-actions.ts';
import { withOutput } from '../output/format.ts';

/** Loaded only when a flow command runs, so that other commands and completions do not load the schema engine. */
const actions = () => import('../flows/flow-actions.ts');

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
  withOutput(check).action(async (file: string, options: CheckFlowOptions) =>
    (await actions()).checkFlow(file, options),
  );
  const test = withFlow(flow.command('test'))
    .description('run the tests of a flow; every call gets the answer that the test gives it')
    .option('--tests <file>', 'file of the tests (default: tests.yaml beside the flow)');
  withOutput(test).action(async (file: string, options: TestFlowOptions) => (await actions()).testFlow(file, options));
  flow
    .command('version')
    .description('print the files of a folder as an AgentVersion, with the digest and the schemas of the flow')
    .argument('<dir>', 'folder with flow.yaml, manifest.yaml and tests.yaml')
    .option('--name <word>', 'name of the resource (default: the name of the agent and the version of the flow)')
    .option('--subflows <dir>', 'folder with the flows that subflow nodes name by their digests')
    .action(async (folder: string, options: VersionOptions) => (await actions()).printVersion(folder, options));
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
