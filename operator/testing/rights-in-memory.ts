import type { Tuple } from '#relations/tuple';
import type { AgentAuthority } from '../controllers/agent/controller.ts';

type RightsInMemory = AgentAuthority & {
  /** The tuples of an object as `relation subject`, sorted. */
  tuplesOf(object: string): readonly string[];
  /** While the store is away or refused, every change is refused. */
  setAway(isAway: boolean | 'refused'): void;
};

/** A store of rights on agents for tests; it keeps its content when an operator is replaced. */
export function createRightsInMemory(): RightsInMemory {
  const stored = new Map<string, readonly Tuple[]>();
  let away: boolean | 'refused' = false;
  return {
    issuer: 'https://gateway.example',
    exposure: 'R1',
    rights: {
      async settle(object, tuples) {
        if (away !== false) return away === 'refused' ? 'refused' : 'away';
        stored.set(object, tuples);
        return 'consistent';
      },
      async [Symbol.asyncDispose]() {},
    },
    tuplesOf: (object) =>
      (stored.get(object) ?? []).map(({ relation, subject }) => `${relation} ${subject}`).toSorted(),
    setAway(isAway) {
      away = isAway;
    },
  };
}
