import { problemLine } from '#flow/source/problem';
import { CliError } from '../errors/cli-error.ts';
import { formatOf, type OutputOptions, writeResult } from '../output/format.ts';
import type { FlowFile } from './read-flow-file.ts';

/** @throws CliError usage, after every problem was written with its place */
export function valueOrRefusal<T>(read: FlowFile<T>, output: OutputOptions): T {
  return read.ok ? read.value : refuseFile(read.file, read.problems, output);
}

/** @throws CliError usage */
export function refuseFile(
  file: string,
  problems: Extract<FlowFile<never>, { ok: false }>['problems'],
  output: OutputOptions,
): never {
  writeResult(formatOf(output), { file, problems }, () =>
    problems.map((problem) => problemLine(file, problem)).join('\n'),
  );
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  throw new CliError('usage', `${file} is refused for ${count}: the lines above name each place.`);
}
