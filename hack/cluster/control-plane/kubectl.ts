import { type ProgramEnd, runToEnd } from '#kit/testing/run-to-end';
import { buildPrograms } from '../build/build-programs.ts';
import { silentProgress } from '../machine/progress.ts';

/** Runs kubectl in the version of the cluster. @param input standard input of kubectl */
export async function kubectl(kubeconfig: string, args: readonly string[], input = ''): Promise<ProgramEnd> {
  const programs = await buildPrograms(['kubectl'], silentProgress);
  return runToEnd(programs.kubectl, [`--kubeconfig=${kubeconfig}`, ...args], { input });
}

/** Runs kubectl and throws when it fails. @returns the standard output of kubectl */
export async function kubectlOk(kubeconfig: string, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await kubectl(kubeconfig, args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout;
}
