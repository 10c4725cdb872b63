/**
 * Workloads that a route is about to name. Between the live read of a workload and the write of its route no object in
 * the API may refer to it, for example if the binding is edited meanwhile. A claim prevents the deletion of the
 * workload during that time.
 */
export type WorkloadClaims = {
  /** Claims a workload: it is not deleted until every claim on it is disposed. */
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
