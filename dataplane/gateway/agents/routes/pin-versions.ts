import type { AgentTableState } from './agent-table.ts';

/** A version that a route lists or that a call in flight uses. */
type UsedVersion = { readonly agentId: string; readonly versionId: string };

/** Counts the calls of each version, so that its process ends after them. */
export type VersionPins = {
  /** Holds a version until the call has ended; disposing twice has no effect. */
  pin(version: UsedVersion): Disposable;
  /** Every version of a served route and every version with calls, in a fixed order. */
  inUse(state: Pick<AgentTableState, 'taken'>): readonly UsedVersion[];
  readonly count: number;
};

/** `onLastRelease` is called when the last call of a version ends. */
export function createVersionPins(onLastRelease: () => void): VersionPins {
  const flights = new Map<string, { readonly version: UsedVersion; calls: number }>();
  let count = 0;
  const keyOf = ({ agentId, versionId }: UsedVersion): string => `${agentId}/${versionId}`;
  return {
    pin({ agentId, versionId }) {
      const key = keyOf({ agentId, versionId });
      const flight = flights.get(key) ?? { version: { agentId, versionId }, calls: 0 };
      flight.calls += 1;
      flights.set(key, flight);
      count += 1;
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (!isHeld) return;
          isHeld = false;
          count -= 1;
          flight.calls -= 1;
          if (flight.calls > 0) return;
          flights.delete(key);
          onLastRelease();
        },
      };
    },
    inUse({ taken }) {
      const listed = taken.flatMap(({ spec }) =>
        spec.versions.map(({ versionId }) => ({ agentId: spec.agentId, versionId })),
      );
      const used = new Map(
        [...listed, ...[...flights.values()].map(({ version }) => version)].map((one) => [keyOf(one), one]),
      );
      return [...used].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, version]) => version);
    },
    get count() {
      return count;
    },
  };
}
