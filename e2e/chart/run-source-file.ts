import { type ProgramEnd, runToEnd } from '#kit/testing/run-to-end';
import { root } from '../../hack/check/run-tool.ts';

/** Runs a program of the checkout like a container of the chart, with only these environment variables. */
export function runSourceFile(file: string, environment: Readonly<Record<string, string>>): Promise<ProgramEnd> {
  return runToEnd(process.execPath, [file], { cwd: root, environment: { PATH: process.env['PATH'], ...environment } });
}
