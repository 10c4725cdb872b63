import { nodeSpan } from '#flow/engine/node-span';
import type { RunEvent } from '#flow/engine/run-events';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import type { SpanEnd, Spans } from '#kit/trace/span';
import type { RunFailure, RunObserver } from '../steps/process-call.ts';
import { ringLimits } from './run-ring.ts';

type OpenRun = {
  readonly request: ExecutionRequest;
  readonly end: (end: SpanEnd) => void;
  /** Ends of the spans of nodes that run now, by path. */
  readonly nodes: Map<string, (end: SpanEnd) => void>;
  begun: number;
};

/**
 * Records a span for each run and for each of its nodes: names, codes and numbers, as in the traces that the process
 * keeps (docs/decisions/0068). A run has spans for the first nodes only, at most as many as its trace has nodes.
 */
export class RunSpans implements RunObserver {
  readonly #spans: Spans;
  readonly #runs = new Map<string, OpenRun>();

  constructor(spans: Spans) {
    this.#spans = spans;
  }

  started(request: ExecutionRequest): void {
    const { trace, runId } = request;
    if (trace?.isSampled !== true) return;
    const end = this.#spans.begin(trace, { name: 'agent run', kind: 'internal' });
    this.#runs.set(runId, { request, end, nodes: new Map(), begun: 0 });
  }

  event(runId: string, event: RunEvent): void {
    const run = this.#runs.get(runId);
    const trace = run?.request.trace;
    if (run === undefined || trace === undefined) return;
    if (event.type === 'nodeStarted') {
      run.begun += 1;
      if (run.begun > ringLimits.nodes) return;
      const name = `node ${event.kind}`;
      run.nodes.set(event.path, this.#spans.begin(nodeSpan(trace, event.path), { name, kind: 'internal' }));
    } else if (event.type === 'nodeEnded') {
      const { path, kind, outcome: code, attempts } = event;
      const attributes = {
        'portcullis.node.path': path,
        'portcullis.node.kind': kind,
        'portcullis.node.attempts': attempts,
        'portcullis.code': code,
      };
      run.nodes.get(path)?.({ attributes, failed: code !== 'ok' });
      run.nodes.delete(path);
    }
  }

  ended(runId: string, code: string, { step, flowCode }: RunFailure = {}): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    this.#runs.delete(runId);
    const { agentId, versionId } = run.request.context;
    const attributes = {
      'portcullis.run.id': runId,
      'portcullis.agent.id': String(agentId),
      'portcullis.agent.version': String(versionId),
      'portcullis.code': code,
      'portcullis.step': step,
      'portcullis.flow.code': flowCode,
      'portcullis.run.nodes': run.begun,
    };
    run.end({ attributes, failed: code !== 'none' });
  }
}

/** Reports each event of runs to all observers. */
export function observeAll(...observers: readonly RunObserver[]): RunObserver {
  return {
    started: (request) => {
      for (const one of observers) one.started(request);
    },
    event: (runId, event) => {
      for (const one of observers) one.event(runId, event);
    },
    ended: (runId, code, cause) => {
      for (const one of observers) one.ended(runId, code, cause);
    },
  };
}
