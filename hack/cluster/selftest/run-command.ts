import { fileURLToPath } from 'node:url';
import { type ProgramEnd, runToEnd } from '#kit/testing/run-to-end';

export const mainFile = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Runs one cluster command in its own process, as a user does. */
export function runClusterCommand(...args: readonly string[]): Promise<ProgramEnd> {
  return runToEnd(process.execPath, [mainFile, ...args]);
}

/** Runs a cluster command that must succeed. @throws an error with its output if it fails */
export async function runOk(...args: readonly string[]): Promise<ProgramEnd> {
  const result = await runClusterCommand(...args);
  if (result.code !== 0) throw new Error(`${args.join(' ')} ended with ${result.code}:\n${result.stderr}`);
  return result;
}
