import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { fieldProblems } from '#kube/apply/field-problems';
import { CliError } from '../errors/cli-error.ts';
import type { Source } from './read-sources.ts';

/**
 * Reads one YAML or JSON document with a schema. An empty text counts as an empty object, as in the operator.
 * @throws CliError usage that names text, line or field
 */
export function readYaml<S extends z.ZodType>({ name, bytes }: Source, schema: S): z.infer<S> {
  const document = parseDocument(bytes.toString('utf8'), { uniqueKeys: true, stringKeys: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new CliError('usage', `${name}: line ${fault.linePos?.[0].line ?? 1}: invalid YAML (${fault.code}).`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problems = fieldProblems(read.error, value);
  const sentences = problems.map(({ field, message }) => `${field === '' ? 'the file' : field} ${message}`);
  throw new CliError('usage', `${name}: ${sentences.join('; ')}`);
}
