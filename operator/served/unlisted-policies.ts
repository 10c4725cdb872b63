import type { AgentVersion } from '#resources/agent-version';
import { policiesNamedBy } from '#resources/protection';
import type { ServedPin, ServedPolicies } from './ports.ts';

type Versions = { list(): readonly Pick<AgentVersion, 'metadata' | 'spec'>[] };

/**
 * The versions of agents that name a served policy, sorted. Versions that are being deleted are included, because their
 * runs may continue.
 */
export function versionsNaming(versions: Versions, served: string): readonly string[] {
  const naming = versions.list().filter(({ spec }) => policiesNamedBy(spec).has(served));
  return naming.map(({ metadata }) => metadata.name).toSorted();
}

/** A served policy that the file no longer lists, and the versions of agents for which it remains served. */
export type UnlistedPolicy = { readonly name: string; readonly pin: ServedPin; readonly versions: readonly string[] };

/** The served policies that are kept for versions of agents only, in the order of their names. */
export function unlistedPolicies(
  { entries, pins }: Pick<ServedPolicies, 'entries' | 'pins'>,
  versions: Versions,
): readonly UnlistedPolicy[] {
  const listed = new Set(entries.map(({ name }) => name));
  return [...pins()]
    .filter(([name]) => !listed.has(name))
    .map(([name, pin]) => ({ name, pin, versions: versionsNaming(versions, name) }))
    .filter((one) => one.versions.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
