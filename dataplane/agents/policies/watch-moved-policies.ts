import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { startWorkLoop } from '#kit/concurrency/work-loop';

/**
 * Interval of the probes in milliseconds, and the number of consecutive failures after which the policy counts as no
 * longer served.
 */
const probes = { everyMs: 5_000, failures: 2 } as const;

type WatchOptions = {
  /** The policies whose newest target was refused, each with the target that is still used. */
  readonly moved: () => ReadonlyMap<string, CheckTarget>;
  readonly checks: Pick<CheckClient, 'probe'>;
  readonly everyMs?: number | undefined;
};

/** The policies that are no longer served as the version names them. Disposing it ends the probes. */
type MovedPolicies = AsyncDisposable & { gone(): readonly string[] };

/**
 * Probes the targets that stay in use although a newer target was refused: the processes of a policy that has moved
 * serve its former revision for a while, and every check fails afterwards. A policy whose target was not refused is not
 * probed.
 */
export function watchMovedPolicies({ moved, checks, everyMs = probes.everyMs }: WatchOptions): MovedPolicies {
  const failures = new Map<string, number>();
  const loop = startWorkLoop(
    async (signal) => {
      const targets = moved();
      for (const name of failures.keys()) if (!targets.has(name)) failures.delete(name);
      for (const [name, target] of targets) {
        const { ok } = await checks.probe(target, { signal });
        if (signal.aborted) return false;
        failures.set(name, ok ? 0 : (failures.get(name) ?? 0) + 1);
      }
      return false;
    },
    { pollMs: everyMs },
  );
  return {
    gone() {
      const targets = moved();
      return [...failures].flatMap(([name, failed]) => (failed >= probes.failures && targets.has(name) ? [name] : []));
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
