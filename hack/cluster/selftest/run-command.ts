import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const mainFile = fileURLToPath(new URL('../main.ts', import.meta.url));

type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs one command about clusters in a process of its own, as a person does. */
export async function runCommand(...args: readonly string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [mainFile, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

/** The same for a command that must succeed. @throws with its output if it fails */
export async function runOk(...args: readonly string[]): Promise<CommandResult> {
  const result = await runCommand(...args);
  if (result.code !== 0) throw new Error(`${args.join(' ')} ended with ${result.code}:\n${result.stderr}`);
  return result;
}
