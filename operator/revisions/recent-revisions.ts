import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';
import { isMarked, isPurged } from '#resources/purged-revision';

/** Cache time. A revision never changes except that its text can be removed; only its deletion is noticed later. */
const freshMs = 10_000;
/** Limit of cached characters of definitions. */
const maxCharacters = 4_194_304;

const metadataOnly = { ...kinds.policyRevision, metadataOnly: true } as const;

/** A short-lived cache of revisions, for bindings that are applied at about the same time. */
export type RecentRevisions = {
  /**
   * Returns a cached revision only if a read of its metadata shows that its text is not removed now.
   * @returns undefined if the revision does not exist, `purged` if its text was or is being removed; these results are
   * not cached
   */
  read(name: string): Promise<PolicyRevisionSpec | 'purged' | undefined>;
};

export function createRecentRevisions(client: Pick<KubeClient, 'get'>, clock: Clock): RecentRevisions {
  const held = new Map<string, { readonly spec: PolicyRevisionSpec; readonly since: number }>();
  let characters = 0;

  function forget(name: string): void {
    characters -= held.get(name)?.spec.definition.length ?? 0;
    held.delete(name);
  }

  /** Evicts the oldest revisions, until the remaining ones are fresh and small enough. */
  function forgetOld(): void {
    for (const [name, { since }] of held) {
      if (clock.now() - since < freshMs && characters <= maxCharacters) return;
      forget(name);
    }
  }

  return {
    async read(name) {
      forgetOld();
      const known = held.get(name);
      if (known !== undefined) {
        const head = await client.get<PolicyRevision>(metadataOnly, name);
        if (head === undefined || !isMarked(head.metadata)) return known.spec;
        forget(name);
        return 'purged';
      }
      const revision = await client.get<PolicyRevision>(kinds.policyRevision, name);
      if (revision === undefined) return undefined;
      if (isPurged(revision)) return 'purged';
      forget(name);
      held.set(name, { spec: revision.spec, since: clock.now() });
      characters += revision.spec.definition.length;
      return revision.spec;
    },
  };
}
