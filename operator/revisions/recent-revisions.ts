import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';

/** A revision never changes; only that it is gone is learnt so much later. */
const freshMs = 10_000;
/** Characters of definitions that are held at most. */
const maxCharacters = 4_194_304;

/** Revisions as they are recorded, read once for all bindings that are applied at about the same time. */
export type RecentRevisions = {
  /** @returns undefined where there is none of the name, which is always asked anew */
  read(name: string): Promise<PolicyRevisionSpec | undefined>;
};

export function createRecentRevisions(client: Pick<KubeClient, 'get'>, clock: Clock): RecentRevisions {
  const held = new Map<string, { readonly spec: PolicyRevisionSpec; readonly since: number }>();
  let characters = 0;

  function forget(name: string): void {
    characters -= held.get(name)?.spec.definition.length ?? 0;
    held.delete(name);
  }

  /** The oldest first, until the rest is fresh and small enough. */
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
      if (known !== undefined) return known.spec;
      const revision = await client.get<PolicyRevision>(kinds.policyRevision, name);
      if (revision === undefined) return undefined;
      forget(name);
      held.set(name, { spec: revision.spec, since: clock.now() });
      characters += revision.spec.definition.length;
      return revision.spec;
    },
  };
}
