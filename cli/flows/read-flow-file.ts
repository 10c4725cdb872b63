import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flowDigest, loadFlow } from '#flow/loader/load-flow';
import { usedSubflows } from '#flow/loader/load-version-flow';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import type { SourceProblem } from '#flow/source/problem';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';

/** The problems of a file, or its content. */
export type FlowFile<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly file: string; readonly problems: readonly SourceProblem[] };

/** @throws CliError not_found, usage */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file ${path}: check the path.`, { cause });
    throw new CliError('usage', `${path} cannot be read: ${fileReason(cause)}.`, { cause });
  }
}

/** Loads a flow. Its subflows are found by their digests among the YAML and JSON files of a folder. */
export function readFlowFile(path: string, subflows: string | undefined): FlowFile<LoadedFlow> {
  const candidates = subflows === undefined ? new Map<string, string>() : sourcesOf(subflows);
  const load = loadFlow(readTextFile(path), { subflows: (sha256) => candidates.get(sha256) });
  return load.ok ? { ok: true, value: load.flow } : { ok: false, file: path, problems: load.problems };
}

/** The sources of all subflows of a flow, in the order of their digests. @throws CliError usage */
export function readSubflows(flow: LoadedFlow, folder: string | undefined): readonly string[] {
  const used = [...usedSubflows(flow)].sort();
  if (used.length === 0 || folder === undefined) return [];
  const sources = sourcesOf(folder);
  return used.flatMap((digest) => sources.get(digest) ?? []);
}

function sourcesOf(folder: string): ReadonlyMap<string, string> {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/.test(name));
  } catch (cause) {
    throw new CliError('usage', `${folder} cannot be read: ${fileReason(cause)}.`, { cause });
  }
  return new Map(
    names.flatMap((name) => {
      const text = readTextFile(join(folder, name));
      const digest = flowDigest(text);
      return digest === undefined ? [] : [[digest, text] as const];
    }),
  );
}
