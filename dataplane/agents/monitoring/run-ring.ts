import type { TracedNode, TracedRun } from '#contracts/agent-runs';
import type { RunEvent } from '#flow/engine/run-events';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import type { Clock } from '#kit/time/clock';
import { callerOfContext } from '../calls/caller-of-context.ts';
import type { RunFailure, RunObserver } from '../steps/process-call.ts';

/**
 * Maximum number of runs besides those in progress, maximum number of nodes of each run (the first nodes are kept), and
 * how long an ended run is kept, milliseconds.
 */
export const ringLimits = { runs: 200, nodes: 500, keptMs: 86_400_000 } as const;

/** Reads the runs that a process keeps. `caller` restricts the answer to the runs of one caller. */
export type RunReader = {
  /** The newest run first. */
  list(caller?: string): readonly TracedRun[];
  get(runId: string, caller?: string): TracedRun | undefined;
};

type KeptRun = {
  readonly run: Omit<TracedRun, 'nodes' | 'omittedNodes'>;
  readonly caller: string;
  readonly startedMs: number;
  /** Time of the end by the same clock; undefined while the run is in progress. */
  readonly endedMs: number | undefined;
  /** The nodes of the run by path, in the order of their starts. */
  readonly nodes: Map<string, TracedNode>;
  omittedNodes: number;
};

/**
 * The newest runs of one version in this process, with which a person finds the node that failed or was slow
 * (docs/decisions/0068).
 */
export class RunRing implements RunObserver, RunReader {
  readonly #runs = new Map<string, KeptRun>();
  readonly #clock: Clock;
  readonly #onEnded: (code: string, seconds: number) => void;

  constructor(clock: Clock, onEnded: (code: string, seconds: number) => void) {
    this.#clock = clock;
    this.#onEnded = onEnded;
  }

  started(request: ExecutionRequest): void {
    const { runId, traceId, context } = request;
    const startedAt = this.#clock.date().toISOString();
    const run = { runId, versionId: String(context['versionId']), traceId, startedAt };
    const caller = callerOfContext(request);
    const startedMs = this.#clock.now();
    this.#runs.set(runId, { run, caller, startedMs, endedMs: undefined, nodes: new Map(), omittedNodes: 0 });
    this.#forgetOldest();
  }

  event(runId: string, event: RunEvent): void {
    const kept = this.#runs.get(runId);
    if (kept === undefined || (event.type !== 'nodeStarted' && event.type !== 'nodeEnded')) return;
    const { path, kind } = event;
    const known = kept.nodes.get(path);
    if (event.type === 'nodeEnded') {
      const { outcome, attempts, durationMs } = event;
      if (known !== undefined) kept.nodes.set(path, { ...known, outcome, attempts, durationMs });
    } else if (known === undefined && kept.nodes.size >= ringLimits.nodes) kept.omittedNodes += 1;
    else kept.nodes.set(path, { path, kind, startedMs: this.#clock.now() - kept.startedMs });
  }

  ended(runId: string, code: string, { step, flowCode }: RunFailure = {}): void {
    const kept = this.#runs.get(runId);
    if (kept === undefined) return;
    const endedMs = this.#clock.now();
    const durationMs = endedMs - kept.startedMs;
    const cause = { ...(step === undefined ? {} : { step }), ...(flowCode === undefined ? {} : { flowCode }) };
    this.#runs.set(runId, { ...kept, run: { ...kept.run, durationMs, code, ...cause }, endedMs });
    this.#forgetOldest();
    this.#onEnded(code, durationMs / 1_000);
  }

  list(caller?: string): readonly TracedRun[] {
    this.#forgetOld();
    return [...this.#runs.values()]
      .filter((kept) => caller === undefined || kept.caller === caller)
      .reverse()
      .map(tracedRunOf);
  }

  get(runId: string, caller?: string): TracedRun | undefined {
    this.#forgetOld();
    const kept = this.#runs.get(runId);
    return kept === undefined || (caller !== undefined && kept.caller !== caller) ? undefined : tracedRunOf(kept);
  }

  /** A run in progress stays, so that its end is counted; the version bounds their number. */
  #forgetOldest(): void {
    for (const [runId, { endedMs }] of this.#runs) {
      if (this.#runs.size <= ringLimits.runs) return;
      if (endedMs !== undefined) this.#runs.delete(runId);
    }
  }

  #forgetOld(): void {
    const before = this.#clock.now() - ringLimits.keptMs;
    for (const [runId, { endedMs }] of this.#runs) {
      if (endedMs !== undefined && endedMs <= before) this.#runs.delete(runId);
    }
  }
}

function tracedRunOf({ run, nodes, omittedNodes }: KeptRun): TracedRun {
  return { ...run, nodes: [...nodes.values()], omittedNodes };
}
