import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../../hack/check/run-tool.ts';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { silent } from '../../hack/cluster/progress.ts';

export type ProgramEnd = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Arguments of the plugin: kubeconfig and namespace, as kubectl passes them. */
export type Plugin = (args: readonly string[], input?: string) => Promise<ProgramEnd>;

export function pluginFor(kubeconfig: string, namespace: string): Plugin {
  // Allows for a loaded machine.
  const place = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--request-timeout', '60'];
  const file = join(root, 'cli/kubectl/main.ts');
  // Arguments of the test come later and take precedence.
  return ([command = '', ...args], input) =>
    runProgram(process.execPath, [file, command, ...place, ...args], { input });
}

/** An environment with kubectl, the plugin and its completion on the PATH. */
export async function kubectlEnvironment(kubeconfig: string): Promise<Readonly<Record<string, string | undefined>>> {
  const { kubectl } = await buildPrograms(['kubectl'], silent);
  const path = [join(root, 'cli'), dirname(kubectl), process.env['PATH']].join(':');
  return { ...process.env, KUBECONFIG: kubeconfig, PATH: path };
}

export async function runKubectl(kubeconfig: string, args: readonly string[]): Promise<ProgramEnd> {
  const { kubectl } = await buildPrograms(['kubectl'], silent);
  return runProgram(kubectl, args, { environment: await kubectlEnvironment(kubeconfig) });
}

async function runProgram(
  file: string,
  args: readonly string[],
  options: {
    readonly input?: string | undefined;
    readonly environment?: Readonly<Record<string, string | undefined>>;
  } = {},
): Promise<ProgramEnd> {
  const child = spawn(file, args, { cwd: root, env: { ...process.env, ...options.environment }, stdio: 'pipe' });
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
