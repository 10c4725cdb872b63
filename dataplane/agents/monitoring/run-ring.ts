import type { RunEvent } from '#flow/engine/run-events';
import type { Clock } from '#kit/time/clock';
import type { RunObserver } from '../steps/process-call.ts';

type TracedNode = {
  readonly path: string;
  readonly kind: string;
  readonly outcome: string;
  readonly attempts: number;
  readonly durationMs: number;
};

/** A run without its texts. */
type TracedRun = {
  readonly runId: string;
  readonly traceId: string;
  readonly startedAt: string;
  readonly durationMs?: number;
  /** Code of the error, or `none`; absent while the run is in progress. */
  readonly code?: string;
  readonly nodes: readonly TracedNode[];
};

/** Most runs that are kept, and most ended nodes of each run; the first nodes are kept. */
export const ringLimits = { runs: 200, nodes: 500 } as const;

/** The newest runs of a process, for finding the node that failed or was slow. */
export class RunRing implements RunObserver {
  readonly #runs = new Map<string, TracedRun & { readonly nodes: TracedNode[]; readonly startedMs: number }>();
  readonly #clock: Clock;
  readonly #onEnded: (code: string, seconds: number) => void;

  constructor(clock: Clock, onEnded: (code: string, seconds: number) => void) {
    this.#clock = clock;
    this.#onEnded = onEnded;
  }

  started({ runId, traceId }: { readonly runId: string; readonly traceId: string }): void {
    const startedAt = this.#clock.date().toISOString();
    this.#runs.set(runId, { runId, traceId, startedAt, startedMs: this.#clock.now(), nodes: [] });
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= ringLimits.runs) return;
      this.#runs.delete(oldest);
    }
  }

  event(runId: string, event: RunEvent): void {
    const nodes = this.#runs.get(runId)?.nodes;
    if (nodes === undefined || event.type !== 'nodeEnded' || nodes.length >= ringLimits.nodes) return;
    const { path, kind, outcome, attempts, durationMs } = event;
    nodes.push({ path, kind, outcome, attempts, durationMs });
  }

  ended(runId: string, code: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    const durationMs = this.#clock.now() - run.startedMs;
    this.#runs.set(runId, { ...run, code, durationMs });
    this.#onEnded(code, durationMs / 1_000);
  }

  /** The newest run first. */
  list(): readonly TracedRun[] {
    return [...this.#runs.values()].reverse().map(({ startedMs: _, ...run }) => run);
  }
}
