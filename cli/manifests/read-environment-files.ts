import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { type BundleLimits, bundleLimitsSchema, defaultBundleLimits } from '#contracts/bundle';
import { type ProvidersFile, providersFileSchema } from '#contracts/providers';
import { fieldProblems } from '#kube/field-problems';
import { CliError } from '../cli-error.ts';
import { readSource } from './read-sources.ts';

/** The approved providers of a file; none when there is no file. @throws CliError that names file, line or field */
export function readProviders(path: string | undefined): ProvidersFile['providers'] {
  return path === undefined ? [] : readYamlFile(path, providersFileSchema).providers;
}

/** Bundle limits of a file; what it leaves out has its default. @throws CliError that names file, line or field */
export function readLimits(path: string | undefined): BundleLimits {
  if (path === undefined) return defaultBundleLimits;
  return { ...defaultBundleLimits, ...withoutUndefined(readYamlFile(path, bundleLimitsSchema.partial())) };
}

function withoutUndefined(limits: Partial<Record<keyof BundleLimits, number | undefined>>): Partial<BundleLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** One YAML or JSON document of a known shape. */
export function readYamlFile<S extends z.ZodType>(path: string, schema: S): z.infer<S> {
  const document = parseDocument(readSource(path).bytes.toString('utf8'), { uniqueKeys: true, stringKeys: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new CliError('usage', `${path}: line ${fault.linePos?.[0].line ?? 1}: this is not YAML (${fault.code}).`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problems = fieldProblems(read.error, value);
  const sentences = problems.map(({ field, message }) => `${field === '' ? 'the file' : field} ${message}`);
  throw new CliError('usage', `${path}: ${sentences.join('; ')}`);
}
