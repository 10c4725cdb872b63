import { flowLimits } from '#contracts/flow-limits';
import { withTimeout } from '#kit/concurrency/abort';
import { childSpan } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/json-value';
import { createBackoff } from '#kit/time/backoff';
import type { NodeOf } from '../definition/node-schemas.ts';
import { measureValue } from '../expressions/measure-value.ts';
import type { BudgetShare, TokenNeed } from './budget.ts';
import { asFlowError, endsRun, FlowError, PortError } from './flow-error.ts';
import { nodeSpan } from './node-span.ts';
import { answerSchemas, type PortCall, type PortName, type PortRequests, type ReadAnswer } from './ports.ts';
import type { RunContext } from './run-context.ts';

type Attempts = { count: number };
type Calling = Pick<NodeOf<'retrieval'>, 'timeoutMs' | 'retry'>;

/** The numbers of tokens that the budget needs to know for a call of a model. */
type ModelTokens<Name extends PortName> = {
  /** The part of the budget that an attempt can use. */
  readonly need: TokenNeed;
  /** The request of an attempt for a run that has `left` before it. */
  readonly requestWith: (left: number) => PortRequests[Name];
  /** The usage of an answer. */
  readonly usedBy: (answer: ReadAnswer<Name>) => number;
};

type PortAsk<Name extends PortName, Result> = {
  readonly run: RunContext;
  readonly node: Calling;
  readonly caller: string;
  /** The path of the node, as in the events of the run. */
  readonly path: string;
  readonly port: Name;
  /** How many walks may be in progress at the same time. */
  readonly width: number;
  readonly request: PortRequests[Name];
  readonly tokens?: ModelTokens<Name>;
  readonly signal: AbortSignal;
  readonly attempts: Attempts;
  /** Converts an answer to the result; an error that it throws counts as an error of the attempt. */
  readonly read: (answer: ReadAnswer<Name>) => Result;
  /** Whether the attempt had an effect that cannot be undone, so that the call must not be retried. */
  readonly isFinal?: () => boolean;
  /**
   * Whether a call may have an effect that a retry would repeat: then only an attempt without an effect is retried. If
   * absent, the port decides.
   */
  readonly hasEffect?: boolean;
};

/**
 * Makes one call of a port with its time limit and its retries. Only attempts count against the time limit; waiting for
 * a slot and backoff do not.
 * @throws FlowError
 */
export async function callPort<Name extends PortName, Result>(ask: PortAsk<Name, Result>): Promise<Result> {
  const { run, node, signal, attempts } = ask;
  const { maxAttempts = 1, backoffMs = 0, on = [] } = node.retry ?? {};
  const backoff = createBackoff({
    firstMs: backoffMs,
    maxMs: flowLimits.maxBackoffMs,
    resetAfterMs: Number.POSITIVE_INFINITY,
    now: () => run.clock.now(),
    random: run.random,
  });
  for (let attempt = 1; ; attempt += 1) {
    attempts.count += 1;
    try {
      return await attemptOnce(ask, attempt);
    } catch (thrown) {
      const error = signal.aborted ? asFlowError(signal.reason) : asFlowError(thrown);
      const isRetried = on.some((code) => code === error.code) && attempt < maxAttempts && !isFinal(ask, thrown);
      if (signal.aborted || endsRun(error) || !isRetried) throw error;
    }
    await run.pause(backoff.next(), signal);
    if (signal.aborted) throw asFlowError(signal.reason);
  }
}

/** Whether a failed attempt may have had an effect that a retry would repeat. */
function isFinal<Name extends PortName>(
  { port, isFinal, hasEffect = port === 'agent' }: Pick<PortAsk<Name, unknown>, 'port' | 'isFinal' | 'hasEffect'>,
  error: unknown,
): boolean {
  if (isFinal?.() === true) return true;
  // The run of another agent may have called services.
  return hasEffect && !(error instanceof PortError && error.hadNoEffect);
}

/** The part of the run's budget that an attempt holds until it has ended. */
type Taken = { readonly share?: BudgetShare; readonly left?: number; settle(): void };

async function attemptOnce<Name extends PortName, Result>(
  ask: PortAsk<Name, Result>,
  attempt: number,
): Promise<Result> {
  const { run, signal } = ask;
  const release = await run.slots.acquire(signal);
  let taken: Taken | undefined;
  try {
    taken = await takeBudget(ask);
    return await callOnce(ask, attempt, taken);
  } finally {
    release();
    taken?.settle();
  }
}

/** The run of another agent uses the budget of the calling run. @throws FlowError budget_exceeded */
async function takeBudget<Name extends PortName>({
  run: { budget },
  port,
  width,
  tokens,
  signal,
}: Pick<PortAsk<Name, unknown>, 'run' | 'port' | 'width' | 'tokens' | 'signal'>): Promise<Taken> {
  if (tokens !== undefined) return await budget.holdTokens(tokens.need, signal);
  if (port !== 'agent') return { settle: () => undefined };
  const share = await budget.share(width, signal);
  return { share, settle: () => share.settle() };
}

async function callOnce<Name extends PortName, Result>(
  ask: PortAsk<Name, Result>,
  attempt: number,
  { share, left = 0, settle }: Taken,
): Promise<Result> {
  const { run, node, caller, path, port, tokens, signal, isFinal, read } = ask;
  using deadline = withTimeout(signal, node.timeoutMs);
  const { runId, traceId, context } = run;
  const trace = childSpan(nodeSpan(run.trace, path));
  let hasEnded = false;
  let isCalled = false;
  let isAnswered = false;
  /** The tokens that the attempt is known to have used; undefined after they are spent. */
  let used = tokens?.need.text;
  const request = tokens?.requestWith(left) ?? ask.request;
  const given = untilEnded(request, () => hasEnded || deadline.signal.aborted);
  try {
    const facts = { signal: deadline.signal, runId, traceId, trace, caller, path, attempt, context };
    const call: PortCall = share === undefined ? facts : { ...facts, share };
    const answer = await unlessAborted(() => {
      isCalled = true;
      return run.ports[port](given, call);
    }, deadline.signal);
    isAnswered = true;
    // This is done before the answer is counted: the waiting run has only its share left.
    settle();
    const bytes = sizeOf(answer);
    const whole = wholeAnswer(port, answer);
    if (whole !== undefined) used = tokens?.usedBy(whole);
    run.budget.spend('outputBytes', bytes);
    if (whole === undefined) throw new FlowError('answer_invalid');
    const spent = used;
    used = undefined;
    // Tokens are spent whether or not the answer can be used.
    if (spent !== undefined) run.budget.spend('modelTokens', spent);
    return read(whole);
  } catch (error) {
    // If the model reports no tokens, it has read at least the texts.
    const isUsed = isAnswered || (isCalled && (deadline.signal.aborted || isFinal?.() === true || isInvalid(error)));
    if (used !== undefined && isUsed) {
      settle();
      run.budget.spend('modelTokens', used);
    }
    if (deadline.timedOut()) throw new FlowError('timeout');
    throw error;
  } finally {
    hasEnded = true;
  }
}

function isInvalid(error: unknown): boolean {
  return (error instanceof FlowError || error instanceof PortError) && error.code === 'answer_invalid';
}

/** The request of one attempt: text that arrives after its end is dropped, because a port may ignore its signal. */
function untilEnded<Request extends object>(request: Request, hasEnded: () => boolean): Request {
  const { onText } = request as Partial<PortRequests['model']>;
  if (onText === undefined) return request;
  return {
    ...request,
    onText(text: string) {
      if (!hasEnded()) onText(text);
    },
  };
}

/**
 * The bytes of an answer, which is measured before its schema is checked, because that would traverse an answer of any depth.
 * @throws FlowError answer_invalid
 */
function sizeOf(answer: unknown): number {
  try {
    return measureValue(answer as JsonValue, flowLimits.outputBytes);
  } catch {
    throw new FlowError('answer_invalid');
  }
}

/** An answer that matches the schema of its port; undefined if it does not. */
function wholeAnswer<Name extends PortName>(port: Name, answer: unknown): ReadAnswer<Name> | undefined {
  return answerSchemas[port].safeParse(answer).data as ReadAnswer<Name> | undefined;
}

/** A call that ignores its signal must not block the run: its late answer is dropped. */
async function unlessAborted<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) throw signal.reason;
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([call(), promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
