import { flowLimits } from '#contracts/flow-limits';
import { withTimeout } from '#kit/concurrency/abort';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { startTrace, type TraceContext } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/json-value';
import { systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { LoadedFlow } from '../loader/loaded-flow.ts';
import { BudgetMeter, fullBudget, type RunBudget } from './budget.ts';
import { executeFlow } from './execute-flow.ts';
import { asFlowError, FlowError } from './flow-error.ts';
import type { FlowPorts } from './ports.ts';
import { openExecution } from './run-containers.ts';
import { createPace, type RunContext } from './run-context.ts';
import { EventQueue, type RunEvent } from './run-events.ts';

/** A request to run a flow, free of every protocol (`agents:internal-model:not-canonical`). */
export type ExecutionRequest = {
  readonly entrypoint: string;
  readonly input: JsonValue;
  /**
   * Facts that the platform provides about the request: the root `context` of expressions, and the identity for ports.
   */
  readonly context: Readonly<Record<string, JsonValue>>;
  readonly runId: string;
  readonly traceId: string;
  /** The span of the run; undefined for a run that records no spans. */
  readonly trace?: TraceContext;
  readonly budget?: Partial<RunBudget>;
  /** Counts the usage of the run for the caller; by default a new meter with `budget` is used. */
  readonly meter?: BudgetMeter;
  /**
   * Paths of the prompts whose text is wanted in events of type text; undefined for the text of all prompts that
   * stream.
   */
  readonly textOf?: ReadonlySet<string>;
};

type Sources = Partial<Pick<RunContext, 'clock' | 'random' | 'pause'>>;

/**
 * Runs a flow. The last event is `result` or `failed`; an abort of the signal ends the run as `cancelled`. A reader that
 * stops reading ends the run, too. After its last event, only calls that ignore their signal can still run.
 */
export async function* runFlow(
  flow: LoadedFlow,
  request: ExecutionRequest,
  ports: FlowPorts,
  signal: AbortSignal,
  { clock = systemClock, random = Math.random, pause = wait }: Sources = {},
): AsyncGenerator<RunEvent, void, undefined> {
  const budget = { ...fullBudget, ...request.budget };
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(new FlowError('cancelled'));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  using deadline = withTimeout(controller.signal, Math.min(budget.timeoutMs, fullBudget.timeoutMs));
  const events = new EventQueue();
  const { runId, traceId, trace = startTrace(traceId, false), context, textOf } = request;
  const run = {
    ports,
    runId,
    traceId,
    trace,
    context,
    textOf,
    budget: request.meter ?? new BudgetMeter(budget),
    slots: createSemaphore(flowLimits.width.max),
    events,
    clock,
    random,
    pause,
    pace: createPace(),
  };

  async function execute(): Promise<void> {
    try {
      const execution = openExecution(run, flow, request.input, 1);
      const result = await executeFlow(execution, request.entrypoint, '', deadline.signal);
      events.add({ type: 'result', result });
    } catch (thrown) {
      const error = deadline.timedOut() ? new FlowError('deadline_exceeded') : asFlowError(thrown);
      events.add(failedEvent(error));
    } finally {
      events.end();
    }
  }

  const running = execute();
  try {
    yield* events.read();
  } finally {
    controller.abort(new FlowError('cancelled'));
    signal.removeEventListener('abort', onAbort);
    await running;
  }
}

function failedEvent({ code, flowCode, message, place }: FlowError): RunEvent {
  const details = { ...(flowCode === undefined ? {} : { flowCode }), ...(place === undefined ? {} : { path: place }) };
  return { type: 'failed', code, message, ...details };
}
