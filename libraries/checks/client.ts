import { type CheckMessage, checkErrors } from '#contracts/checks';
import { limits } from '#contracts/limits';
import type { Stage } from '#contracts/policy';
import { explainHeaders, explainRule, type ResponseMode } from '#contracts/profiles';
import { providerCauses } from '#contracts/provider-causes';
import type { TokenFile } from '#kit/http/token-file';
import type { TraceContext } from '#kit/http/trace-context';
import { type Clock, systemClock } from '#kit/time/clock';
import { createAddressBook } from './address-book.ts';
import { type CheckFailure, type CheckOutcome, failedCheck } from './check-outcome.ts';
import { type CheckTarget, checkBody, checkHeaders } from './check-target.ts';
import { readFailure, readResult } from './read-result.ts';
import { type AnswerExplanation, type CallAttempt, type CheckCall, deadlinePassed } from './runtime-address.ts';

export type { CheckOutcome } from './check-outcome.ts';
export type { CheckTarget } from './check-target.ts';

type CheckClientOptions = {
  /** Token file of the runtimes; its first line is sent. */
  readonly tokenFile: TokenFile;
  /** How many milliseconds longer than the deadlineMs of its policy a check may take; 500 when absent. */
  readonly slackMs?: number;
  /**
   * Maximum number of concurrent calls to one process; the default of maxConcurrency when absent. Further calls wait
   * until their deadline.
   */
  readonly maxInFlight?: number;
  readonly clock?: Clock;
  /** Whether outcomes name the deciding rule, and a provider that returned no judgement; false when absent. */
  readonly explain?: boolean;
};

type CheckOptions = {
  readonly mode?: ResponseMode;
  readonly signal?: AbortSignal;
  /** The span of the check, which the runtime continues. */
  readonly trace?: Pick<TraceContext, 'traceparent'>;
};

export type ProbeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: CheckFailure; readonly message: string };

/**
 * The client of the guardrail runtime (`client:*` of the requirements). A check never throws: every failure is an
 * outcome that forbids the action. Each check uses one target and ends within deadlineMs and the slack. When a runtime
 * is overloaded, or the connection is lost before the answer began, the check is retried once on another process of the
 * workload. After a lost connection, it is retried on the same process if the workload has only one (an idle connection
 * may just have been closed). A deny and every other answer are final.
 */
export type CheckClient = AsyncDisposable & {
  check(
    target: CheckTarget,
    stage: Stage,
    messages: readonly CheckMessage[],
    options?: CheckOptions,
  ): Promise<CheckOutcome>;
  /** A check without messages, which runs no rule: the answer message_limit proves token, digest, policy and profile. */
  probe(target: CheckTarget, options?: { readonly signal?: AbortSignal }): Promise<ProbeOutcome>;
};

/** Bytes of a result or an error body in addition to the masked body. */
const answerOverheadBytes = 1_024;

export function createCheckClient(options: CheckClientOptions): CheckClient {
  const {
    tokenFile,
    slackMs = 500,
    maxInFlight = limits.maxConcurrency.default,
    clock = systemClock,
    explain = false,
  } = options;
  const headersOf = keepHeaders(explain ? { [explainHeaders.ask]: explainRule } : {});
  const addresses = createAddressBook(maxInFlight, clock);

  /** Makes at most two attempts before the deadline, the second on another process if there is one. */
  async function send(
    target: CheckTarget,
    stage: Stage,
    body: Buffer,
    mode: ResponseMode,
    { signal: parent, trace }: Pick<CheckOptions, 'signal' | 'trace'>,
  ): Promise<CallAttempt | CheckFailure> {
    if (parent?.aborted) return 'aborted';
    const token = readToken(tokenFile);
    if (token === undefined) return 'no_token';
    const own = headersOf(target, mode, token);
    const call: CheckCall = {
      path: stage === 'request' ? '/request' : '/response',
      headers: trace === undefined ? own : { ...own, traceparent: trace.traceparent },
      body,
      maxAnswerBytes: target.maxBodyBytes + answerOverheadBytes,
    };
    const end = { signal: parent, deadline: performance.now() + target.deadlineMs + slackMs };
    try {
      const first = addresses.pick(target.addresses, undefined);
      if (first === undefined) return 'no_address';
      const attempt = await first.call(call, end);
      if (!mayTryAgain(attempt)) return attempt;
      const other = addresses.pick(target.addresses, first.origin);
      const again = other ?? (attempt.kind === 'lost' ? first : undefined);
      return again === undefined ? attempt : await again.call(call, end);
    } catch (reason) {
      if (reason === deadlinePassed) return 'timeout';
      return parent?.aborted ? 'aborted' : 'network';
    }
  }

  return {
    async check(target, stage, messages, { mode = 'buffered', ...given } = {}) {
      const sent = messages.map(({ role, content }) => ({ role, content }));
      if (sent.length < 1) return failedCheck('message_limit');
      const { maxMessages, maxBodyBytes } = target;
      if (sent.length > maxMessages) {
        return { ...failedCheck('message_limit'), excess: { count: sent.length, limit: maxMessages } };
      }
      const body = checkBody(stage, sent);
      if (body.length > maxBodyBytes) {
        return { ...failedCheck('body_too_large'), excess: { count: body.length, limit: maxBodyBytes } };
      }
      const attempt = await send(target, stage, body, mode, given);
      if (typeof attempt === 'string') return failedCheck(attempt);
      if (attempt.kind !== 'answer') return failedCheck(unanswered(attempt));
      if (attempt.status !== 200) return explained(readFailure(attempt.status, attempt.bytes), attempt.explanation);
      return explained(readResult(attempt.bytes, stage, mode, sent), attempt.explanation);
    },
    async probe(target, given = {}) {
      const attempt = await send(target, 'request', checkBody('request', []), 'buffered', given);
      if (typeof attempt === 'string') return { ok: false, ...sentence(attempt) };
      if (attempt.kind !== 'answer') return { ok: false, ...sentence(unanswered(attempt)) };
      if (attempt.status === 200) return { ok: false, ...sentence('invalid_answer') };
      const { code } = readFailure(attempt.status, attempt.bytes);
      return code === 'message_limit' ? { ok: true } : { ok: false, ...sentence(code) };
    },
    async [Symbol.asyncDispose]() {
      await addresses.close();
    },
  };
}

type Headers = Readonly<Record<string, string>>;

/** Builds the headers of a target once for each mode, because all checks of a route have the same headers. */
function keepHeaders(asks: Headers): (target: CheckTarget, mode: ResponseMode, token: string) => Headers {
  const known = new WeakMap<CheckTarget, Map<ResponseMode, { readonly token: string; readonly headers: Headers }>>();
  return (target, mode, token) => {
    const modes = known.get(target) ?? new Map();
    const found = modes.get(mode);
    if (found?.token === token) return found.headers;
    const headers = { ...checkHeaders(target, mode), ...asks, authorization: `Bearer ${token}` };
    known.set(target, modes.set(mode, { token, headers }));
    return headers;
  };
}

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * The outcome with the id of its rule and the provider that returned no judgement. A value that is not a valid name or
 * a known cause is left out, so that it cannot transport other text.
 */
function explained(outcome: CheckOutcome, { rule, provider: name = '', cause }: AnswerExplanation): CheckOutcome {
  if (rule === undefined || outcome.kind === 'pass' || !nameForm.test(rule)) return outcome;
  const known = providerCauses.find((one) => one === cause);
  if (outcome.kind !== 'failed' || known === undefined || !nameForm.test(name)) return { ...outcome, rule };
  return { ...outcome, rule, provider: { name, cause: known } };
}

function sentence(code: CheckFailure): { code: CheckFailure; message: string } {
  return { code, message: failedCheck(code).message };
}

function unanswered(attempt: Exclude<CallAttempt, { kind: 'answer' }>): CheckFailure {
  switch (attempt.kind) {
    case 'too_long':
      return 'invalid_answer';
    case 'lost':
    case 'broken':
      return 'network';
  }
}

function mayTryAgain(attempt: CallAttempt): boolean {
  if (attempt.kind === 'lost') return true;
  return (
    attempt.kind === 'answer' &&
    attempt.status === checkErrors.overloaded.status &&
    readFailure(attempt.status, attempt.bytes).code === 'overloaded'
  );
}

function readToken(tokenFile: TokenFile): string | undefined {
  try {
    const token = tokenFile.first();
    return token === '' ? undefined : token;
  } catch {
    return undefined;
  }
}
