import type { ServerResponse } from 'node:http';
import { calledVersionHeader } from '#contracts/called-version';
import { runUsageHeader } from '#contracts/run-usage';
import { withTimeout } from '#kit/concurrency/abort';
import type { Logger } from '#kit/log/logger';
import type { RoutedVersion } from '#resources/agent-route';
import type { RequestBytes } from '../../relay/held-frames.ts';
import type { RequestLife } from '../../relay/interruption.ts';
import { countUse } from '../budgets/count-use.ts';
import type { RunBudgets, UsedBudget } from '../budgets/ports.ts';
import type { AdmittedCall } from '../calls/admit-agent-call.ts';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import { type ConfirmParts, confirmRight } from '../calls/confirm-right.ts';
import type { AgentCaller } from '../calls/identify-caller.ts';
import type { ImageSlots } from '../calls/image-slots.ts';
import type { RunLimiter } from '../calls/limit-runs.ts';
import { type AgentOperation, forwardedQuery, type RoutedCall } from '../calls/parse-call.ts';
import { type AgentExchange, refusalBody } from '../calls/refuse-call.ts';
import { type JudgedCall, judgeCall } from '../guard/judge-call.ts';
import { type CallHead, judgeHead } from '../guard/judge-head.ts';
import { sendJudgedAnswer } from '../guard/send-judged.ts';
import { type GuardParts, stageGuard } from '../guard/version-guard.ts';
import type { VersionPins } from '../routes/pin-versions.ts';
import type { AgentClient, ProcessAnswer, ProcessCall } from './agent-client.ts';
import { CallBytes } from './call-bytes.ts';
import { continuedAfter, isUnread, unwatchedMs } from './continued-run.ts';
import { headersForAgent, headersForClient } from './forward-headers.ts';
import { type IdentityParts, issueIdentity } from './issue-identity.ts';
import { type PipeEnd, pipeAnswer } from './pipe-answer.ts';
import { processBody } from './process-body.ts';
import { type BodyParts, receiveCallBody } from './receive-body.ts';
import { type ArrivedMessage, receiveMessage } from './receive-message.ts';
import { takeBudget } from './take-budget.ts';

/** How much longer than its run the process may take to answer, milliseconds. */
const slackMs = 10_000;
/** Timeout of an operation that starts no run and streams nothing, milliseconds. */
const shortMs = 30_000;

export type ForwardParts = IdentityParts &
  GuardParts &
  ConfirmParts &
  BodyParts & {
    readonly runs: RunLimiter;
    /** Runs of images, by version. */
    readonly slots: ImageSlots;
    /**
     * Calls that start no run, by caller: whole answers of flows are counted separately from calls that end a run or a
     * session.
     */
    readonly reads: ImageSlots;
    /** Maximum number of concurrent calls of each of these kinds, for one caller with one agent. */
    readonly readsAtOnce: number;
    readonly pins: Pick<VersionPins, 'pin'>;
    readonly budgets: RunBudgets;
    readonly client: AgentClient;
    readonly metrics: {
      readonly runs: { add(value: number): void };
      budgetUsed(agent: string, used: UsedBudget): void;
    };
    readonly logger: Pick<Logger, 'warn'>;
    readonly shutdown: AbortSignal;
    /** How long a client may read nothing before it is disconnected, milliseconds. */
    readonly clientIdleMs: number;
  };

/**
 * Facts about a forwarded call for metrics and budgets, even if it ends with a refusal: the bytes of the body that were
 * sent to the process, the bytes of the answer that were sent to the client, and the status of the answer of the
 * process, once it has arrived.
 */
export type ForwardedCall = {
  /** Whether the call is that of a run. */
  isRun: boolean;
  /** Whether the process may have received the call, so that it may have run. */
  reached: boolean;
  status: number | undefined;
  sent: number;
  received: number;
  /** Resolves when the bytes of a run, of a call of tasks or of a message of MCP were counted; undefined for another call. */
  counted: Promise<void> | undefined;
};

type Forward = {
  readonly call: RoutedCall;
  readonly admitted: AdmittedCall & { readonly caller: AgentCaller };
  readonly exchange: AgentExchange;
  readonly life: RequestLife;
  /** The record of the forwarded call, which is completed while the call is forwarded. */
  readonly forwarded: ForwardedCall;
  /** The message of a call of MCP that was read first. */
  readonly arrived?: ArrivedMessage | undefined;
};

type ImageCall = {
  readonly version: RoutedVersion;
  readonly operation: AgentOperation;
  readonly head: CallHead;
  readonly body: Buffer | undefined;
};

/** Sends an admitted call to the process of its version, and the answer to the client. @throws AgentRefusal */
export async function forwardCall(plane: ForwardParts, routed: Forward): Promise<void> {
  const { admitted, exchange, forwarded } = routed;
  const { version } = admitted;
  const { issuer, subject } = admitted.caller.subject;
  const key = JSON.stringify([admitted.spec.agentId, issuer, subject]);
  using held = new DisposableStack();
  const forward = await withMessage(plane, routed, key, held);
  const { call, arrived } = forward;
  forwarded.isRun = call.operation.isRun;
  if (!call.operation.isRun) {
    if (arrived === undefined) held.use(slotOf(plane.reads.take(`${key} ${placesOf(forward)}`, plane.readsAtOnce)));
    try {
      await exchangeWithProcess(plane, forward, () => undefined);
    } finally {
      // A task has the answer of a run, which its caller may have left to read it here.
      if (arrived !== undefined || call.operation.name.startsWith('tasks:'))
        forwarded.counted = countBytes(plane, forward);
    }
    return releaseOnceSent(held, exchange.outgoing);
  }
  if (version.sdk !== undefined) held.use(slotOf(plane.slots.take(version.versionId, version.limits.concurrency)));
  const admission = plane.runs.admit(key);
  if (admission.kind === 'refused') {
    throw new AgentRefusal('too_many_runs', { 'retry-after': String(admission.retryAfterSeconds) });
  }
  arrived?.place[Symbol.dispose]();
  const { run } = admission;
  using counted = new DisposableStack();
  counted.defer(() => run.end());
  plane.metrics.runs.add(1);
  const onContinued = (continuedMs: number): void => {
    run.endAfter(continuedMs);
    // The process of a flow reports the tokens of its runs. The gateway counts the runs of an image until they end.
    if (version.sdk === undefined) return;
    held.use(plane.pins.pin({ agentId: admitted.spec.agentId, versionId: version.versionId }));
    const kept = held.move();
    setTimeout(() => kept.dispose(), continuedMs).unref();
  };
  try {
    await takeBudget(plane, admitted);
    await exchangeWithProcess(plane, forward, onContinued);
    // A caller may leave many answers unread, so an unread answer counts as a run of its caller.
    releaseOnceSent(counted, exchange.outgoing);
  } finally {
    plane.metrics.runs.add(-1);
    // Not awaited here: a refusal is answered after this function.
    forwarded.counted = countBytes(plane, forward);
  }
}

/**
 * The call with its message, if it is one of MCP for a flow: most of these begin no run. An image may begin one with any message.
 * @throws AgentRefusal
 */
async function withMessage(
  plane: ForwardParts,
  forward: Forward,
  key: string,
  held: DisposableStack,
): Promise<Forward> {
  const { call, admitted, exchange, life } = forward;
  const { operation } = call;
  const { version, caller } = admitted;
  if (!operation.isRun || operation.mode !== 'MCP' || version.sdk !== undefined) return forward;
  const from = { key, person: personOf(caller), signal: life.signal };
  const arrived = await receiveMessage(plane, exchange, { operation, version, token: caller.token }, from);
  held.use(arrived.place);
  held.use(arrived.bytes);
  return { ...forward, call: { ...call, operation: { ...operation, isRun: arrived.startsRun } }, arrived };
}

function personOf({ subject: { issuer, subject } }: Pick<AgentCaller, 'subject'>): string {
  return JSON.stringify([issuer, subject]);
}

/** Counts the bytes of both bodies of a call for its person. Never rejects. */
function countBytes(plane: ForwardParts, { admitted, forwarded }: Forward): Promise<void> {
  return countUse(plane, {
    agentId: admitted.spec.agentId,
    person: admitted.caller.subject,
    used: { tokens: 0, bytes: forwarded.sent + forwarded.received },
  });
}

/**
 * Which places of its caller a call takes that starts no run. A caller that follows all of its runs can still stop them, and one whose
 * subscriptions have all of their places can read its tasks.
 */
function placesOf({ call: { operation }, admitted, exchange }: Forward): 'end' | 'whole' | 'other' {
  if (operation.name === 'tasks:cancel' || exchange.incoming.method === 'DELETE') return 'end';
  return admitted.version.sdk === undefined && operation.name !== 'tasks:subscribe' ? 'whole' : 'other';
}

function slotOf(taken: Disposable | undefined): Disposable {
  if (taken === undefined) throw new AgentRefusal('too_many_runs', { 'retry-after': '1' });
  return taken;
}

/** A call as its process gets it. */
type PreparedCall = {
  readonly process: ProcessCall;
  /** Number of bytes of the body. */
  readonly length: number;
  readonly asked: JudgedCall['asked'];
};

/**
 * Receives the body of a call, judges it for an image, and issues the identity. The bytes of the body are released when
 * they were sent.
 * @throws AgentRefusal
 */
async function prepareCall(
  plane: ForwardParts,
  { call, admitted, exchange, life, arrived }: Forward,
  bytes: RequestBytes,
): Promise<PreparedCall> {
  const { incoming, trace } = exchange;
  const { version, caller, spec } = admitted;
  const { operation } = call;
  const headers = headersForAgent(incoming.rawHeaders);
  const query = forwardedQuery(incoming.url ?? '');
  if (headers === undefined || query === undefined) throw new AgentRefusal('invalid_request');
  const { token } = caller;
  if (token !== undefined && Object.values(headers).some((value) => value.includes(token))) {
    throw new AgentRefusal('token_exposed');
  }
  const received =
    arrived === undefined
      ? await receiveCallBody(plane, exchange, { operation, version, token }, { bytes, signal: life.signal })
      : arrived.take();
  const head = { path: call.path, query, headers };
  const judged =
    version.sdk === undefined
      ? undefined
      : await judgeImageCall(plane, { version, operation, head, body: received }, { bytes, signal: life.signal });
  const body = judged === undefined ? received : judged.body;
  if (operation.isRun || arrived !== undefined) await confirmRight(plane, admitted, operation.mode);
  const identity = await issueIdentity(plane, {
    ...{ caller, version, operation },
    agentId: spec.agentId,
    exposure: spec.exposure,
  });
  const receivedBytes = received?.length ?? 0;
  const process = {
    address: version.address,
    method: incoming.method ?? 'GET',
    path: `${call.path}${query}`,
    headers: {
      ...(judged?.headers ?? headers),
      ...identity,
      traceparent: trace.traceparent,
      'accept-encoding': 'identity',
    },
    body: body === undefined ? undefined : processBody(body, () => bytes.release(receivedBytes)),
  };
  return { process, length: body?.length ?? 0, asked: judged?.asked };
}

async function exchangeWithProcess(
  plane: ForwardParts,
  forward: Forward,
  onContinued: (continuedMs: number) => void,
): Promise<void> {
  const { call, admitted, exchange, life, forwarded } = forward;
  const { outgoing } = exchange;
  const { version, caller } = admitted;
  const { operation } = call;
  using held = new DisposableStack();
  const bytes = held.use(forward.arrived?.bytes ?? new CallBytes(plane.bodies, personOf(caller)));
  // No object here refers to the body, so that it can be garbage collected once it was sent.
  const { process, length, asked } = await prepareCall(plane, forward, bytes);
  const isLong = operation.isRun || operation.name === 'tasks:subscribe';
  using time = withTimeout(life.signal, isLong ? version.limits.timeoutMs + slackMs : shortMs);
  // A client that has left before its call is sent starts no run.
  life.signal.throwIfAborted();
  forwarded.sent = length;
  forwarded.reached = true;
  const answer = await plane.client.call(process, time.signal).catch((reason: unknown): never => {
    // If the client has left, the process of a flow ends a run whose answer has not begun, except over MCP.
    if (version.sdk !== undefined || operation.mode === 'MCP') onContinued(unwatchedMs);
    if (time.timedOut()) throw new AgentRefusal('deadline_exceeded');
    throw reason;
  });
  if (answer.kind === 'unreachable') {
    forwarded.sent = 0;
    forwarded.reached = answer.wasSent;
    throw new AgentRefusal('agent_unavailable');
  }
  forwarded.status = answer.status;
  if (operation.isRun && caller.parent !== undefined)
    exchange.outgoing.setHeader(calledVersionHeader, version.versionId);
  const guard = stageGuard(plane, version, 'response', time.signal);
  if (guard !== undefined) {
    const facts = { operation, version, asked, guard };
    const onSent = (sent: number): void => {
      forwarded.received += sent;
    };
    const sending = { exchange, signal: time.signal, idleMs: plane.clientIdleMs, onSent, bytes };
    await sendJudgedAnswer(answer, facts, sending).catch((reason: unknown): never => {
      const isBroken = reason instanceof AgentRefusal && reason.code === 'agent_unavailable';
      if (!isBroken && isUnread(answer)) onContinued(unwatchedMs);
      if (time.timedOut() && !(reason instanceof AgentRefusal)) throw new AgentRefusal('deadline_exceeded');
      throw reason;
    });
    bytes.settle();
    releaseOnceSent(held, outgoing);
    return;
  }
  const end = await sendAnswer(plane, exchange, answer, {
    // An image does not count its use, so its usage header is not trusted.
    countsUse: caller.parent !== undefined && version.sdk === undefined,
    signal: time.signal,
  });
  forwarded.received = end.bytes;
  const continuedMs = continuedAfter(end, { operation, version }, answer);
  if (continuedMs > 0) onContinued(continuedMs);
  if (end.kind === 'client_gone' || end.kind === 'client_stuck') outgoing.destroy();
  else if (end.kind !== 'whole') {
    endBroken(exchange, end, {
      isStream: isEventStream(answer),
      code: codeOf(end, time.timedOut(), plane.shutdown.aborted),
    });
  }
}

/**
 * Judges the texts of a call for an image that does not judge them itself. The values of its body take memory while
 * they are judged.
 * @throws AgentRefusal
 */
async function judgeImageCall(
  plane: GuardParts,
  { version, operation, head, body }: ImageCall,
  { bytes, signal }: { readonly bytes: RequestBytes; readonly signal: AbortSignal },
): Promise<JudgedCall & Pick<CallHead, 'headers'>> {
  const guard = stageGuard(plane, version, 'request', signal);
  if (guard === undefined) {
    return { ...(await judgeCall(version, operation, body, undefined)), headers: head.headers };
  }
  let taken = 0;
  const hold = async (more: number): Promise<boolean> => {
    const isTaken = await bytes.take(more);
    if (isTaken) taken += more;
    return isTaken;
  };
  const judged = await judgeCall(version, operation, body, { guard, hold });
  bytes.release(taken);
  const hasBody = (judged.body?.length ?? 0) > 0;
  return { ...judged, headers: await judgeHead(guard, head, hasBody) };
}

/** The memory of an answer is held until its client has read it. */
function releaseOnceSent(held: DisposableStack, outgoing: ServerResponse): void {
  if (outgoing.destroyed) return;
  const kept = held.move();
  outgoing.once('close', () => kept.dispose());
}

function sendAnswer(
  plane: ForwardParts,
  { outgoing, trace }: AgentExchange,
  answer: Extract<ProcessAnswer, { readonly kind: 'answer' }>,
  { countsUse, signal }: { readonly countsUse: boolean; readonly signal: AbortSignal },
): Promise<PipeEnd> {
  const usage = countsUse ? answer.headers[runUsageHeader] : undefined;
  outgoing.writeHead(answer.status, {
    ...headersForClient(answer.headers, trace.traceparent),
    ...(typeof usage === 'string' ? { [runUsageHeader]: usage } : {}),
  });
  const isStream = isEventStream(answer);
  return pipeAnswer(answer.body, outgoing, { idleMs: plane.clientIdleMs, signal, isStream });
}

function isEventStream({ headers }: Pick<Extract<ProcessAnswer, { readonly kind: 'answer' }>, 'headers'>): boolean {
  return String(headers['content-type']).startsWith('text/event-stream');
}

function codeOf(end: PipeEnd, isLate: boolean, isEnding: boolean): AgentRefusal['code'] {
  if (end.kind === 'broken') return 'agent_unavailable';
  if (isEnding) return 'shutting_down';
  return isLate ? 'deadline_exceeded' : 'internal';
}

/**
 * Ends an answer that broke off. A stream gets a last event with the reason, unless the process has sent such an event.
 * If that event could follow half of an event, or if the answer is not a stream, the connection is closed, so that the
 * client does not take the answer for complete.
 */
function endBroken(
  { outgoing, trace }: AgentExchange,
  end: PipeEnd,
  { isStream, code }: { readonly isStream: boolean; readonly code: AgentRefusal['code'] },
): void {
  if (!isStream || !end.isBetweenEvents || outgoing.destroyed) return void outgoing.destroy();
  if (end.saysWhy) return void outgoing.end();
  outgoing.end(`event: error\ndata: ${refusalBody({ code }, trace.traceId).toString()}\n\n`);
}
