import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { root } from '../../hack/check/run-tool.ts';

export type ProgramEnd = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a program of the checkout like a container of the chart, with only these environment variables. */
export async function runProgram(file: string, environment: Readonly<Record<string, string>>): Promise<ProgramEnd> {
  const child = spawn(process.execPath, [file], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, stdout, stderr };
}
