import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { buildPrograms } from './build/build-programs.ts';
import { silent } from './progress.ts';

export type KubectlResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs kubectl of the version of the cluster. @param input its standard input */
export async function kubectl(kubeconfig: string, args: readonly string[], input = ''): Promise<KubectlResult> {
  const programs = await buildPrograms(['kubectl'], silent);
  const child = spawn(programs.kubectl, [`--kubeconfig=${kubeconfig}`, ...args], { stdio: 'pipe' });
  // A program that ends before it read its input explains itself on standard error.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code: code ?? 1, stdout, stderr };
}

/** The same for a command that must succeed. @returns standard output */
export async function kubectlOk(kubeconfig: string, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await kubectl(kubeconfig, args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout;
}
