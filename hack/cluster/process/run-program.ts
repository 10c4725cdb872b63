import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ClusterError } from '../machine/cluster-error.ts';

const outputBytes = 16 * 1_024 ** 2;

/** Runs a system program until it exits and returns its output. @throws ClusterError with its error output */
export async function runClusterProgram(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  try {
    const options = { env: environment, maxBuffer: outputBytes };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (cause) {
    const complaint = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    const reason = complaint === '' && cause instanceof Error ? cause.message : complaint;
    throw new ClusterError('component-failed', `${program} ${args.join(' ')} failed: ${reason}`, { cause });
  }
}
