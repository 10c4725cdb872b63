import type { Command } from 'commander';
import { tableOf, writeJson, writeText } from '../../../cli/output/write.ts';
import { type ClusterState, type ComponentState, clusterStates } from '../life/status.ts';

type StatusOptions = { readonly name?: string; readonly json?: boolean };

export function addClusterStatus(program: Command): void {
  program
    .command('status')
    .description('show each component of each cluster; the exit code is 4 when none runs or one is not ready')
    .option('--name <name>', 'only this cluster')
    .option('--json', 'as JSON')
    .action(status);
}

const notReadyExitCode = 4;

async function status({ name, json }: StatusOptions): Promise<void> {
  const states = (await clusterStates()).filter((state) => name === undefined || state.name === name);
  if (json === true) writeJson(states);
  else writeText(states.length === 0 ? 'No cluster was started.' : states.map(describe).join('\n\n'));
  if (states.length === 0 || states.some(({ ready }) => !ready)) process.exitCode = notReadyExitCode;
}

function describe(state: ClusterState): string {
  const facts = [
    [
      'Cluster:',
      `${state.name} (${state.size}), ${state.ready ? 'ready' : 'not ready'}${state.wanted ? '' : ', left over'}`,
    ],
    ['API server:', state.url],
    ...(state.nodeAddress === null ? [] : [['Node ports:', state.nodeAddress]]),
    ...(state.machineAddress === null ? [] : [['This machine:', `${state.machineAddress}, for pods`]]),
    ['Kubeconfig:', state.kubeconfig],
    ['Logs:', `${state.folder}/logs`],
  ];
  return `${tableOf(facts)}\n${tableOf(state.components.map(row))}`;
}

function row({ name, state, pid, since, lastLine }: ComponentState): readonly string[] {
  return [
    `  ${name}`,
    state,
    pid === null ? '' : `process ${pid}`,
    since === null ? '' : `since ${since}`,
    lastLine ?? '',
  ];
}
