import { dirname, join } from 'node:path';
import { type ProgramEnd, runToEnd } from '#kit/testing/run-to-end';
import { root } from '../../hack/check/run-tool.ts';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { silentProgress } from '../../hack/cluster/machine/progress.ts';

/** Arguments of the plugin: kubeconfig and namespace, as kubectl passes them. */
export type Plugin = (args: readonly string[], input?: string) => Promise<ProgramEnd>;

export function pluginFor(kubeconfig: string, namespace: string): Plugin {
  // Allows for a loaded machine.
  const place = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--request-timeout', '60'];
  const file = join(root, 'cli/kubectl/main.ts');
  // Arguments of the test are later and override these. A command of a group has two words.
  return ([command = '', ...args], input) =>
    runToEnd(process.execPath, [file, ...command.split(' '), ...place, ...args], { input, cwd: root });
}

/** An environment with kubectl, the plugin and its completion on the PATH. */
export async function kubectlEnvironment(kubeconfig: string): Promise<NodeJS.ProcessEnv> {
  const { kubectl } = await buildPrograms(['kubectl'], silentProgress);
  const path = [join(root, 'cli'), dirname(kubectl), process.env['PATH']].join(':');
  return { ...process.env, KUBECONFIG: kubeconfig, PATH: path };
}

export async function runKubectl(kubeconfig: string, args: readonly string[]): Promise<ProgramEnd> {
  const { kubectl } = await buildPrograms(['kubectl'], silentProgress);
  return runToEnd(kubectl, args, { cwd: root, environment: await kubectlEnvironment(kubeconfig) });
}
