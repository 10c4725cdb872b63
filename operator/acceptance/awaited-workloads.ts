/**
 * Records which bindings wait for which workloads, so that the workloads are kept and a binding is queued when one
 * becomes ready. A binding is recorded before its workload is read, so that a change between the two is not missed; its
 * status is updated later.
 */
export type AwaitedWorkloads = {
  expect(binding: string, workload: string): void;
  /** The binding no longer waits for a workload. */
  forget(binding: string): void;
  bindingsOf(workload: string): readonly string[];
};

export function createAwaitedWorkloads(onReleased: (workloads: readonly string[]) => void): AwaitedWorkloads {
  const awaited = new Map<string, Set<string>>();
  const waiting = new Map<string, Set<string>>();
  return {
    expect(binding, workload) {
      awaited.set(binding, (awaited.get(binding) ?? new Set()).add(workload));
      waiting.set(workload, (waiting.get(workload) ?? new Set()).add(binding));
    },
    forget(binding) {
      const released = [...(awaited.get(binding) ?? [])];
      for (const workload of released) {
        const bindings = waiting.get(workload);
        bindings?.delete(binding);
        if (bindings?.size === 0) waiting.delete(workload);
      }
      awaited.delete(binding);
      if (released.length > 0) onReleased(released);
    },
    bindingsOf: (workload) => [...(waiting.get(workload) ?? [])],
  };
}
