import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { runTest } from '#flow/cases/run-test';
import { drawFlow } from '#flow/drawing/draw-flow';
import { flowRequirements } from '#flow/loader/flow-requirements';
import { loadManifest } from '#flow/loader/load-manifest';
import { writeAtomic } from '#kit/files/write-atomic';
import { CliError } from '../errors/cli-error.ts';
import { fileReason } from '../errors/file-fault.ts';
import { formatOf, type OutputOptions, writeResult } from '../output/format.ts';
import { writeText, writeYaml } from '../output/write.ts';
import { newFlowFiles } from './new-flow.ts';
import { readFlowFile, readTextFile } from './read-flow-file.ts';
import { refuseFile, valueOrRefusal } from './refuse-file.ts';
import { testsOf, type VersionOptions, versionOfFolder } from './version-of-folder.ts';

type FlowOptions = { readonly subflows?: string };
export type CheckFlowOptions = FlowOptions & OutputOptions & { readonly manifest?: string; readonly tests?: string };
export type TestFlowOptions = FlowOptions & OutputOptions & { readonly tests?: string };
export type GraphOptions = FlowOptions & { readonly out?: string };

export function initFlow(folder: string): void {
  const name = basename(resolve(folder));
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) {
    throw new CliError('usage', `The name of the folder must have letters, digits, dots, hyphens and underscores.`);
  }
  const files = Object.entries(newFlowFiles(name, uuidv7()));
  const taken = files.map(([file]) => join(folder, file)).find((path) => existsSync(path));
  if (taken !== undefined) throw new CliError('usage', `${taken} exists: choose another folder.`);
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of files) writeFileSync(join(folder, file), text, { flag: 'wx' });
  } catch (cause) {
    throw new CliError('usage', `${folder} cannot be written: ${fileReason(cause)}.`, { cause });
  }
  const written = files.map(([file]) => join(folder, file)).join(', ');
  writeText(`Written: ${written}. Next: portcullis flow test ${join(folder, 'flow.yaml')}`);
}

export function checkFlow(path: string, options: CheckFlowOptions): void {
  const flow = valueOrRefusal(readFlowFile(path, options.subflows), options);
  const { manifest, tests } = options;
  const cases = tests === undefined ? undefined : valueOrRefusal(testsOf(tests, flow), options);
  if (manifest !== undefined) {
    const load = loadManifest(readTextFile(manifest), flow);
    if (!load.ok) refuseFile(manifest, load.problems, options);
  }
  const { metadata } = flow.source;
  const requires = flowRequirements(flow);
  const counted = cases === undefined ? {} : { tests: cases.length };
  const result = {
    name: metadata.name,
    version: metadata.version,
    sha256: flow.sha256,
    nodes: flow.nodes.size,
    requires,
    ...counted,
  };
  writeResult(formatOf(options), result, () =>
    [
      `${metadata.name} ${metadata.version}: ${flow.nodes.size} nodes, sha256 ${flow.sha256}`,
      ...requires.map(({ kind, name }) => `needs the ${kind} ${name}`),
    ].join('\n'),
  );
}

export async function testFlow(path: string, options: TestFlowOptions): Promise<void> {
  const flow = valueOrRefusal(readFlowFile(path, options.subflows), options);
  const tests = valueOrRefusal(testsOf(options.tests ?? join(dirname(path), 'tests.yaml'), flow), options);
  const ends = [];
  for (const test of tests) ends.push(await runTest(flow, test));
  const failed = ends.filter(({ problems }) => problems.length > 0);
  const rows = ends.map(({ name, problems }) => ({ name, passed: problems.length === 0, problems }));
  writeResult(formatOf(options), { tests: rows }, () =>
    [
      ...rows.map(({ name, passed, problems }) =>
        passed ? `passed  ${name}` : `FAILED  ${name}: ${problems.join('; ')}`,
      ),
      `${rows.length - failed.length} of ${rows.length} tests passed`,
    ].join('\n'),
  );
  if (failed.length === 0) return;
  const count = `${failed.length} of ${rows.length} tests failed`;
  const [first] = failed;
  const others = failed.length > 1 ? ' The lines that begin with FAILED name the others.' : '';
  throw new CliError(
    'tests_failed',
    `${path}: ${count}: ${first?.name}: ${first?.problems.join('; ')}.${others} Correct the flow, or the test.`,
  );
}

/** Prints the files of a folder as one AgentVersion. @throws CliError usage, not_found */
export function printVersion(folder: string, options: VersionOptions): void {
  writeYaml(versionOfFolder(folder, options));
}

export async function graphFlow(path: string, options: GraphOptions): Promise<void> {
  const svg = await drawFlow(valueOrRefusal(readFlowFile(path, options.subflows), {}));
  if (options.out === undefined) return writeText(svg);
  await writeAtomic(options.out, Buffer.from(svg), { mode: 0o644 });
  writeText(`${options.out} is written.`);
}
