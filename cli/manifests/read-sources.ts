import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { fieldPath, readShape } from '#contracts/read-shape';
import { type Place, placeAt, placeOfPath } from '#kube/apply/place-in-yaml';
import { shapeMessages } from '#kube/apply/shape-message';
import { yamlFaults } from '#kube/apply/yaml-fault';
import { CliError } from '../errors/cli-error.ts';
import { fileReason, isAbsent } from '../errors/file-fault.ts';
import { problemSentence } from './problem-sentence.ts';

export type ManifestSource = { readonly name: string; readonly bytes: Buffer };

/** Maximum number of problems in one message. */
const maxProblems = 20;

const manifestFile = /\.(ya?ml|json)$/;

/**
 * Reads the argument of `-f`: a file, the YAML and JSON files of a folder in the order of their names, or standard
 * input for `-`.
 * @throws CliError not_found or usage that names the place
 */
export async function readSources(path: string): Promise<readonly ManifestSource[]> {
  if (path === '-') return [{ name: 'standard input', bytes: await buffer(process.stdin) }];
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CliError('not_found', `There is no file or folder ${path}: check the path.`);
  if (!found.isDirectory()) return [readSource(path)];
  const names = readdirSync(path).filter((name) => manifestFile.test(name) && !name.startsWith('.'));
  if (names.length === 0)
    throw new CliError(
      'usage',
      `The folder ${path} contains no file that ends with .yaml, .yml or .json: check the path.`,
    );
  return names.sort().map((name) => readSource(join(path, name)));
}

/** The sources of several `-f`, in their order. Standard input can be read once. @throws CliError */
export async function readAllSources(paths: readonly string[]): Promise<readonly ManifestSource[]> {
  return (await readSourcesByPath(paths)).flatMap(({ sources }) => sources);
}

/** Reads the sources of each path separately. @throws CliError */
export async function readSourcesByPath(
  paths: readonly string[],
): Promise<readonly { readonly path: string; readonly sources: readonly ManifestSource[] }[]> {
  if (paths.filter((path) => path === '-').length > 1) {
    throw new CliError('usage', 'Standard input can be read only once: give one -f -.');
  }
  const all: { path: string; sources: readonly ManifestSource[] }[] = [];
  for (const path of paths) all.push({ path, sources: await readSources(path) });
  return all;
}

/** @param remedy the remedy for a file that does not exist @throws CliError not_found, usage */
export function readSource(path: string, remedy = 'check the path'): ManifestSource {
  try {
    return { name: path, bytes: readFileSync(path) };
  } catch (cause) {
    if (isAbsent(cause)) throw new CliError('not_found', `There is no file ${path}: ${remedy}.`, { cause });
    throw new CliError('usage', `The file ${path} cannot be read: ${fileReason(cause)}.`, { cause });
  }
}

/**
 * Reads one YAML or JSON document with a schema. An empty text counts as an empty object, as in the operator.
 * @throws CliError usage that names text, line or field
 */
export function readYaml<S extends z.ZodType>({ name, bytes }: ManifestSource, schema: S): z.infer<S> {
  const lines = new LineCounter();
  const options = { uniqueKeys: true, stringKeys: true, prettyErrors: false, lineCounter: lines } as const;
  const document = parseDocument(bytes.toString('utf8'), options);
  const problems = yamlFaults(document, maxProblems, lines).map(({ offset, message }) =>
    problemSentence(name, { document: 0, ...placeAt(offset, lines), field: '', message }),
  );
  if (problems.length > 0) throw new CliError('usage', problems.join('\n'));
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const read = readShape(schema, value);
  if (read.ok) return read.value;
  const placeOf = (path: readonly PropertyKey[]): Place => placeOfPath(document, path, lines);
  const sentences = shapeMessages(read.problems, { value, placeOf, repeat: 'found' })
    .slice(0, maxProblems)
    .map(({ path, message }) => {
      const place = placeOf(path);
      const field = fieldPath(path) || 'the file';
      return problemSentence(name, { document: 0, ...place, field, message });
    });
  throw new CliError('usage', sentences.join('\n'));
}
