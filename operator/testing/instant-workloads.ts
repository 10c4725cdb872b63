import type { WorkloadRequest, Workloads } from '../workloads/ports.ts';

export type InstantWorkloads = Workloads & {
  /** The desired workloads, by name. */
  readonly running: ReadonlyMap<string, WorkloadRequest>;
};

/** Workloads without processes: ready a moment after they were requested. */
export function createInstantWorkloads(build: string): InstantWorkloads {
  const running = new Map<string, WorkloadRequest>();
  const ready = new Set<string>();
  let listener: (name: string) => void = () => undefined;

  return {
    running,
    canRun: (one) => one.build === build,
    render: ({ digest, build: one }) => JSON.stringify({ digest, build: one }),
    ensure(request) {
      const isNew = !running.has(request.name);
      running.set(request.name, request);
      if (!isNew) return;
      setImmediate(() => {
        ready.add(request.name);
        listener(request.name);
      });
    },
    observe(name) {
      const { replicas = 0 } = ready.has(name) ? (running.get(name) ?? {}) : {};
      // A documentation address for each process (RFC 5737), which is never called.
      const addresses = Array.from({ length: replicas }, (_one, index) => `http://192.0.2.${index + 1}:8000`);
      return { addresses, ready: replicas, problem: undefined };
    },
    remove(name) {
      running.delete(name);
      ready.delete(name);
    },
    has: (name) => running.has(name),
    onChange(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      running.clear();
    },
  };
}
