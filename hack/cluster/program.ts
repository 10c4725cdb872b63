import { Command, CommanderError } from 'commander';
import { addBuild } from './commands/build.ts';
import { addDown } from './commands/down.ts';
import { addKubeconfig } from './commands/kubeconfig.ts';
import { addLoad } from './commands/load.ts';
import { addSelftest } from './commands/selftest.ts';
import { addClusterStatus } from './commands/status.ts';
import { addClusterUp } from './commands/up.ts';
import { ClusterError } from './machine/cluster-error.ts';

const commands = [addClusterUp, addDown, addClusterStatus, addKubeconfig, addLoad, addBuild, addSelftest];

function createProgram(): Command {
  const program = new Command('npm run cluster --')
    .description('Kubernetes clusters on this machine, for development and tests.')
    .showHelpAfterError('Add --help to a command to see its usage.')
    .helpCommand('help [command]', 'show how a command is used')
    .exitOverride();
  for (const add of commands) add(program);
  return program;
}

/** npm consumes an option before `--` and starts the command without it. @returns the consumed option */
function swallowedOption(environment: NodeJS.ProcessEnv): string | undefined {
  // Options of the cluster command that npm itself does not have.
  const ours = ['control-plane', 'name', 'controllers', 'pretended-nodes', 'port', 'api-server-flag'];
  return ours.find((option) => environment[`npm_config_${option.replaceAll('-', '_')}`] !== undefined);
}

/** Runs one command line. @returns the exit code of the process */
export async function runClusterCommandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const swallowed = swallowedOption(environment);
  if (swallowed !== undefined) {
    console.error(`npm consumed --${swallowed}: write 'npm run cluster -- ${args.join(' ')} --${swallowed} ...'.`);
    return 2;
  }
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof ClusterError)) throw error;
    console.error(`cluster: ${error.message}`);
    return error.code === 'usage' ? 2 : 1;
  }
}
