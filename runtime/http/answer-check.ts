import type { ServerResponse } from 'node:http';
import type { CheckErrorCode } from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import { explainHeaders, explainRule } from '#contracts/profiles';
import { drainRefused, readBody } from '#kit/http/read-body';
import { openTrace, traceIdOf } from '#kit/http/trace-context';
import { runCheck } from '../check/run-check.ts';
import type { CompiledSection } from '../rules/compiled-section.ts';
import { type Decision, decidingRule, type Failed, failed } from '../rules/decision.ts';
import { bodyGates } from './body-gates.ts';
import { type CheckAnswer, checkAnswer } from './check-answer.ts';
import { sendError, sendMeasured } from './error-answer.ts';
import { headerGates, readCheckHeaders } from './header-gates.ts';
import { firstRefusal, type PendingCheck } from './pending-check.ts';
import type { HttpExchange, RuntimeService, ServedBundle } from './runtime-service.ts';

/** Timeout for receiving a body, milliseconds, unless the deadline of the stage is shorter. */
const bodyMs = 1_000;

type RunningCheck = HttpExchange & {
  readonly service: RuntimeService;
  readonly check: PendingCheck;
  /** Time at which the headers had arrived: the stage deadline counts from this time. */
  readonly startedAt: number;
};

/** The outcome of a check. `gone`: the client closed the connection, so no answer is sent. */
type Ending =
  | CheckAnswer
  | Failed
  | { readonly kind: 'refused'; readonly code: CheckErrorCode }
  | { readonly kind: 'gone' };

/**
 * Handles one check from its headers to its answer, through the gates in their order (docs/design/gates.md): headers,
 * body, bytes, check slot, rules, own answer.
 */
export async function answerCheck(
  stage: Stage,
  { incoming, outgoing }: HttpExchange,
  service: RuntimeService,
): Promise<void> {
  const startedAt = service.clock.now();
  const served = service.served();
  const check: PendingCheck = {
    stage,
    headers: readCheckHeaders(incoming.rawHeaders),
    bundle: served?.bundle,
    acceptsToken: (token) => service.tokens.accepts(token),
  };
  const running: RunningCheck = { incoming, outgoing, service, check, startedAt };
  const endSpan = beginSpan(running);
  const ending = await endingOf(running, served);
  finish(running, ending);
  endSpan(ending);
}

/** A span of names, codes and numbers: no text and no match is in it. */
function beginSpan({ incoming, outgoing, service: { spans }, check }: RunningCheck): (ending: Ending) => void {
  if (!spans.isRecording) return () => undefined;
  const trace = openTrace(incoming.headers['traceparent'], true);
  const end = spans.begin(trace, { name: `check ${check.stage}`, kind: 'server' });
  return (ending) => {
    const isAnswer = ending.kind === 'answer';
    end({
      attributes: {
        'portcullis.stage': check.stage,
        // Until the section is found, the name is a text of the client.
        'portcullis.policy': check.section === undefined ? undefined : check.context?.policyId,
        'portcullis.decision': isAnswer ? ending.decision : undefined,
        'portcullis.rule': check.decidedBy,
        'portcullis.code': codeOf(ending),
        'http.response.status_code': ending.kind === 'gone' ? undefined : outgoing.statusCode,
      },
      failed: !isAnswer,
    });
  };
}

function codeOf(ending: Ending): string {
  if (ending.kind === 'answer') return 'none';
  return ending.kind === 'gone' ? 'client_gone' : ending.code;
}

async function endingOf(running: RunningCheck, served: ServedBundle | undefined): Promise<Ending> {
  const { check } = running;
  try {
    const refusal = firstRefusal(headerGates, check);
    if (refusal !== undefined) return { kind: 'refused', code: refusal };
    if (served === undefined || check.section === undefined) return { kind: 'refused', code: 'policy_unavailable' };
    const fault = await readInTime(running, served, check.section);
    if (fault !== undefined) return fault;
    const wrong = firstRefusal(bodyGates, check);
    if (wrong !== undefined) return { kind: 'refused', code: wrong };
    return await judge(running, served, check.section);
  } catch {
    return failed('internal');
  }
}

/** Reads the body into the check while holding a body slot, so that a slow client holds no check slot. */
async function readInTime(
  { incoming, service, check, startedAt }: RunningCheck,
  served: ServedBundle,
  section: CompiledSection,
): Promise<Ending | undefined> {
  const release = served.bodies.tryAcquire();
  if (release === undefined) {
    service.meter.overloaded('bodies');
    return failed('overloaded');
  }
  try {
    const left = Math.min(bodyMs, section.deadlineMs) - (service.clock.now() - startedAt);
    const body = await readBody(incoming, { limit: served.bundle.limits.maxBodyBytes, ms: left });
    if (body.ok) {
      check.bytes = body.bytes;
      return undefined;
    }
    switch (body.fault) {
      case 'too_large':
        return { kind: 'refused', code: 'body_too_large' };
      case 'aborted':
        return failed('stage_timeout');
      case 'refused':
        return failed('overloaded');
      case 'closed':
        return { kind: 'gone' };
    }
  } finally {
    release();
  }
}

async function judge(running: RunningCheck, served: ServedBundle, section: CompiledSection): Promise<Ending> {
  const { service, check, startedAt } = running;
  const { bundle } = served;
  const messages = check.messages ?? [];
  const release = served.checks.tryAcquire();
  if (release === undefined) {
    service.meter.overloaded('checks');
    return failed('overloaded');
  }
  service.meter.slotTaken();
  let decision: Decision;
  try {
    decision = await runCheck(
      {
        section,
        messages,
        maxMatches: bundle.limits.maxMatches,
        deadline: startedAt + section.deadlineMs,
        maskDenies: check.stage === 'response' && check.context?.responseMode === 'sse-reject',
        signal: waitsForProviders(section) ? clientSignal(running.outgoing) : undefined,
      },
      service.ports,
    );
  } finally {
    service.meter.slotFreed();
    release();
  }
  check.decidedBy = decidingRule(decision);
  const { maxBodyBytes } = bundle.limits;
  const { stage, bytes: source } = check;
  return checkAnswer(decision, { stage, messages, maxBodyBytes, ...(source === undefined ? {} : { source }) });
}

function waitsForProviders(section: CompiledSection): boolean {
  return section.steps.some((step) => step.kind === 'ask');
}

/**
 * This signal is aborted when the client disconnects, so that no provider is called for an answer that cannot be sent.
 */
function clientSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  return gone.signal;
}

function finish(running: RunningCheck, ending: Ending): void {
  const { incoming, outgoing, service, check, startedAt } = running;
  if (ending.kind === 'gone') return;
  if (check.section !== undefined && ending.kind !== 'refused') {
    const decision = ending.kind === 'answer' ? ending.decision : 'failed';
    service.meter.decided(check.stage, check.context?.policyId ?? '', decision, service.clock.now() - startedAt);
  }
  if (ending.kind === 'answer') {
    sendMeasured(outgoing, 200, ending, explanation(check));
    return;
  }
  const traceId = traceIdOf(incoming.headers['traceparent']);
  const rule = ending.kind === 'failed' ? ending.rule : undefined;
  service.meter.refused(check.stage, ending.code);
  if (ending.kind === 'failed' && ending.code !== 'overloaded') logFailure(running, ending, traceId);
  drainRefused(incoming, outgoing);
  const headers = { ...explanation(check), ...(ending.kind === 'failed' ? failedProvider(check, ending) : noHeaders) };
  sendError(outgoing, ending.code, { traceId, rule, headers });
}

const noHeaders: Readonly<Record<string, string>> = {};

/**
 * The id of the rule that decided, for a client that requests it: only the id of one rule, without text, position or
 * other matches.
 */
function explanation(check: PendingCheck): Readonly<Record<string, string>> {
  const { decidedBy } = check;
  return isExplained(check) && decidedBy !== undefined ? { [explainHeaders.rule]: decidedBy } : noHeaders;
}

/** The provider that returned no judgement, and one of the fixed causes, without any word of its answer. */
function failedProvider(check: PendingCheck, { provider, cause }: Failed): Readonly<Record<string, string>> {
  if (!isExplained(check) || provider === undefined || cause === undefined) return noHeaders;
  return { [explainHeaders.provider]: provider, [explainHeaders.cause]: cause };
}

function isExplained({ headers: { explain } }: PendingCheck): boolean {
  return explain.ok && explain.value === explainRule;
}

/**
 * Counters are the record of failed checks (`guardrail:stateless:only-process-metrics`); the log line is for debugging.
 * The line names the policy and the rule and contains no checked text.
 */
function logFailure({ service, check }: RunningCheck, { code, rule }: Failed, traceId: string): void {
  service.logger.debug('check_failed', { stage: check.stage, policy: check.context?.policyId, code, rule, traceId });
}
