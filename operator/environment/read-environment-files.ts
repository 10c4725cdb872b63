import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { type BundleLimits, bundleLimitsSchema, defaultBundleLimits } from '#contracts/bundle';
import { type ApprovedProvider, providersFileSchema } from '#contracts/providers';
import { ConfigError } from '#kit/env/config-error';

/** What the environment approves and bounds; read once, fixed for the life of the process. */
export type Environment = {
  readonly approved: readonly ApprovedProvider[];
  readonly limits: BundleLimits;
};

type Reading<T> = { readonly value: T; readonly problems: readonly string[] };

/**
 * Reads the approved providers and the limits of bundles. A file that is not there approves nothing, or leaves the
 * limits at the contract's example values; one that is wrong in any way is refused whole.
 * @throws ConfigError with a sentence for every problem
 */
export async function readEnvironmentFiles(files: {
  readonly providers: string;
  readonly limits: string;
}): Promise<Environment> {
  const providers = await readYaml(files.providers, providersFileSchema, { providers: [] });
  const limits = await readYaml(files.limits, bundleLimitsSchema.partial(), {});
  const twice = repeated(providers.value.providers).map(
    (name) => `${files.providers}: the provider ${name} is listed twice`,
  );
  const problems = [...providers.problems, ...twice, ...limits.problems];
  if (problems.length > 0) throw new ConfigError(problems);
  return { approved: providers.value.providers, limits: { ...defaultBundleLimits, ...withoutUndefined(limits.value) } };
}

async function readYaml<S extends z.ZodType>(
  path: string,
  schema: S,
  absent: z.infer<S>,
): Promise<Reading<z.infer<S>>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { value: absent, problems: isAbsent ? [] : [`${path} cannot be read`] };
  }
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) {
    // The parser's message shows a piece of the file; the place is enough.
    const at = document.errors[0]?.linePos?.[0].line;
    return { value: absent, problems: [`${path} is not YAML that can be read (line ${at ?? 1})`] };
  }
  const parsed = schema.safeParse(document.toJS() ?? {});
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = parsed.error.issues.map(
    (issue) => `${path}: ${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  return { value: absent, problems };
}

function repeated(providers: readonly ApprovedProvider[]): readonly string[] {
  const names = providers.map((provider) => provider.name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function withoutUndefined(limits: Partial<Record<keyof BundleLimits, number | undefined>>): Partial<BundleLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
