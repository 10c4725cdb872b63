import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { problemSentences, readShape } from '#contracts/read-shape';
import { CliError } from '../errors/cli-error.ts';

export type ManifestSource = { readonly name: string; readonly bytes: Buffer };

const manifestFile = /\.(ya?ml|json)$/;

/**
 * Reads the argument of `-f`: a file, the YAML and JSON files of a folder in the order of their names, or standard
 * input for `-`.
 * @throws CliError not_found or usage that names the place
 */
export async function readSources(path: string): Promise<readonly ManifestSource[]> {
  if (path === '-') return [{ name: 'standard input', bytes: await buffer(process.stdin) }];
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CliError('not_found', `There is no file or folder ${path}.`);
  if (!found.isDirectory()) return [readSource(path)];
  const names = readdirSync(path).filter((name) => manifestFile.test(name) && !name.startsWith('.'));
  if (names.length === 0) throw new CliError('usage', `The folder ${path} holds no .yaml, .yml or .json file.`);
  return names.sort().map((name) => readSource(join(path, name)));
}

export function readSource(path: string): ManifestSource {
  try {
    return { name: path, bytes: readFileSync(path) };
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    if (code === 'ENOENT') throw new CliError('not_found', `There is no file ${path}.`, { cause });
    throw new CliError('usage', `The file ${path} cannot be read (${code}).`, { cause });
  }
}

/**
 * Reads one YAML or JSON document with a schema. An empty text counts as an empty object, as in the operator.
 * @throws CliError usage that names text, line or field
 */
export function readYaml<S extends z.ZodType>({ name, bytes }: ManifestSource, schema: S): z.infer<S> {
  const document = parseDocument(bytes.toString('utf8'), { uniqueKeys: true, stringKeys: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new CliError('usage', `${name}: line ${fault.linePos?.[0].line ?? 1}: invalid YAML (${fault.code}).`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const read = readShape(schema, value);
  if (read.ok) return read.value;
  throw new CliError('usage', `${name}: ${problemSentences(read.problems, 'the file')}`);
}
