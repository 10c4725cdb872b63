import { join } from 'node:path';
import { loadTests } from '#flow/cases/load-tests';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import { agentVersionSchema } from '#resources/agent-version';
import { CliError } from '../errors/cli-error.ts';
import { makeVersion, type VersionManifest } from './make-version.ts';
import { type FlowFile, readFlowFile, readSubflows, readTextFile } from './read-flow-file.ts';
import { refuseFile, valueOrRefusal } from './refuse-file.ts';

export type VersionOptions = { readonly subflows?: string; readonly name?: string };

/**
 * Makes one AgentVersion from flow.yaml, manifest.yaml and tests.yaml of a folder, with the subflows of the flow.
 * @throws CliError usage, not_found
 */
export function versionOfFolder(folder: string, options: VersionOptions): VersionManifest {
  const path = join(folder, 'flow.yaml');
  const manifestPath = join(folder, 'manifest.yaml');
  const testsPath = join(folder, 'tests.yaml');
  const flow = valueOrRefusal(readFlowFile(path, options.subflows), {});
  valueOrRefusal(testsOf(testsPath, flow), {});
  const texts = {
    flow: readTextFile(path),
    manifest: readTextFile(manifestPath),
    tests: readTextFile(testsPath),
    subflows: readSubflows(flow, options.subflows),
  };
  const made = makeVersion(flow, texts, options.name);
  if (!made.ok) return refuseFile(manifestPath, made.problems, {});
  const read = agentVersionSchema.safeParse(made.version);
  if (!read.success) throw new CliError('usage', `${folder} makes no valid AgentVersion: ${nameProblem(read.error)}`);
  return made.version;
}

/** The tests in a file. */
export function testsOf(
  path: string,
  flow: LoadedFlow,
): FlowFile<Extract<ReturnType<typeof loadTests>, { ok: true }>['tests']> {
  const load = loadTests(readTextFile(path), flow);
  return load.ok ? { ok: true, value: load.tests } : { ok: false, file: path, problems: load.problems };
}

function nameProblem({
  issues: [issue],
}: {
  readonly issues: readonly { path: PropertyKey[]; message: string }[];
}): string {
  return `${issue?.path.join('.')} ${issue?.message}. --name and agent.name of the manifest name it.`;
}
