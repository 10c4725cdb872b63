import { type BundleLimits, bundleLimitsSchema, defaultBundleLimits } from '#contracts/bundle';
import { type ProvidersFile, providersFileSchema } from '#contracts/providers';
import { type ManifestSource, readSource, readYaml } from './read-sources.ts';

/** The approved providers of a file; an empty list without a file. @throws CliError that names file, line or field */
export function readProviders(path: string | undefined): ProvidersFile['providers'] {
  return path === undefined ? [] : readProvidersText(readSource(path));
}

/** The approved providers that a text lists. @throws CliError that names text, line or field */
export function readProvidersText(source: ManifestSource): ProvidersFile['providers'] {
  return readYaml(source, providersFileSchema).providers;
}

/** Bundle limits in a file, with defaults for omitted limits. @throws CliError that names file, line or field */
export function readLimits(path: string | undefined): BundleLimits {
  return path === undefined ? defaultBundleLimits : readLimitsText(readSource(path));
}

/** Bundle limits in a text, with defaults for omitted limits. @throws CliError that names text, line or field */
export function readLimitsText(source: ManifestSource): BundleLimits {
  return { ...defaultBundleLimits, ...withoutUndefined(readYaml(source, bundleLimitsSchema.partial())) };
}

function withoutUndefined(limits: Partial<Record<keyof BundleLimits, number | undefined>>): Partial<BundleLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
