import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { type BundleLimits, bundleLimitsSchema, defaultBundleLimits } from '#contracts/bundle';
import { type ProvidersFile, providersFileSchema } from '#contracts/providers';
import { fieldProblems } from '#kube/field-problems';
import { CliError } from '../cli-error.ts';
import { readSource, type Source } from './read-sources.ts';

/** The approved providers of a file; none when there is no file. @throws CliError that names file, line or field */
export function readProviders(path: string | undefined): ProvidersFile['providers'] {
  return path === undefined ? [] : readProvidersText(readSource(path));
}

/** The approved providers that a text lists. @throws CliError that names text, line or field */
export function readProvidersText(source: Source): ProvidersFile['providers'] {
  return readYaml(source, providersFileSchema).providers;
}

/** Bundle limits of a file; what it leaves out has its default. @throws CliError that names file, line or field */
export function readLimits(path: string | undefined): BundleLimits {
  return path === undefined ? defaultBundleLimits : readLimitsText(readSource(path));
}

/** Bundle limits of a text; what it leaves out has its default. @throws CliError that names text, line or field */
export function readLimitsText(source: Source): BundleLimits {
  return { ...defaultBundleLimits, ...withoutUndefined(readYaml(source, bundleLimitsSchema.partial())) };
}

function withoutUndefined(limits: Partial<Record<keyof BundleLimits, number | undefined>>): Partial<BundleLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** One YAML or JSON document of a known shape; an empty text is one without members, as it is to the operator. */
function readYaml<S extends z.ZodType>({ name, bytes }: Source, schema: S): z.infer<S> {
  const document = parseDocument(bytes.toString('utf8'), { uniqueKeys: true, stringKeys: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new CliError('usage', `${name}: line ${fault.linePos?.[0].line ?? 1}: this is not YAML (${fault.code}).`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problems = fieldProblems(read.error, value);
  const sentences = problems.map(({ field, message }) => `${field === '' ? 'the file' : field} ${message}`);
  throw new CliError('usage', `${name}: ${sentences.join('; ')}`);
}
