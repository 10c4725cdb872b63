/**
 * Which bindings wait for which workloads, so that they are looked at when one becomes ready. A binding is noted before
 * its workload is read: what happens in between is not missed.
 */
export type AwaitedWorkloads = {
  expect(binding: string, workload: string): void;
  /** The binding waits for nothing any more. */
  forget(binding: string): void;
  bindingsOf(workload: string): readonly string[];
};

export function createAwaitedWorkloads(): AwaitedWorkloads {
  const awaited = new Map<string, Set<string>>();
  const waiting = new Map<string, Set<string>>();
  return {
    expect(binding, workload) {
      awaited.set(binding, (awaited.get(binding) ?? new Set()).add(workload));
      waiting.set(workload, (waiting.get(workload) ?? new Set()).add(binding));
    },
    forget(binding) {
      for (const workload of awaited.get(binding) ?? []) {
        const bindings = waiting.get(workload);
        bindings?.delete(binding);
        if (bindings?.size === 0) waiting.delete(workload);
      }
      awaited.delete(binding);
    },
    bindingsOf: (workload) => [...(waiting.get(workload) ?? [])],
  };
}
