/**
 * Workloads that a route is about to name. Between the live read of a workload and the write of its route the binding
 * may be edited, so that nothing that can be listed names the workload any more; a claim stands for that moment.
 */
export type WorkloadClaims = {
  /** The workload is not removed until the claim is disposed; several may claim one. */
  claim(name: string): Disposable;
  isClaimed(name: string): boolean;
};

export function createWorkloadClaims(): WorkloadClaims {
  const claims = new Map<string, number>();
  return {
    claim(name) {
      claims.set(name, (claims.get(name) ?? 0) + 1);
      return {
        [Symbol.dispose]() {
          const left = (claims.get(name) ?? 1) - 1;
          if (left === 0) claims.delete(name);
          else claims.set(name, left);
        },
      };
    },
    isClaimed: (name) => claims.has(name),
  };
}
