import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { SseReader } from '#kit/http/sse-reader';
import { HeldFrames, type RequestBytes } from '../../relay/held-frames.ts';
import { readWholeBody } from '../../upstream/read-whole-body.ts';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import { type AgentExchange, refusalBody } from '../calls/refuse-call.ts';
import { type AnswerFacts, judgeMessage } from './judge-answer.ts';
import { createEventJudge } from './judge-events.ts';

/** Largest answer, and largest event of a stream, bytes. */
const mostBytes = 4_194_304;

type Sending = {
  readonly exchange: AgentExchange;
  readonly signal: AbortSignal;
  /** How long a client may read nothing before it is disconnected, milliseconds. */
  readonly idleMs: number;
  /** Called with the bytes of each part of a body that is sent. */
  readonly onSent: (bytes: number) => void;
  /** The bytes of the call in the budget of the gateway. */
  readonly bytes: RequestBytes;
};

const bodyFaults = { too_large: 'answer_refused', refused: 'overloaded', broken: 'agent_unavailable' } as const;

/** The answer of a process before its body is read. */
type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
};

/**
 * Sends the answer of an image after its check; no part of it is sent before. The headers are set by the gateway.
 * @throws AgentRefusal; a stream that has begun ends with an event that has the same code
 */
export async function sendJudgedAnswer(answer: Answer, facts: AnswerFacts, sending: Sending): Promise<void> {
  const type = String(answer.headers['content-type']).split(';')[0]?.trim().toLowerCase();
  // With a redirect the client would bypass the gateway.
  if (answer.status < 200 || (answer.status >= 300 && answer.status < 400)) throw refuse(answer);
  if (type === 'text/event-stream' && answer.status === 200) return await sendStream(answer, facts, sending);
  const hold = (more: number): boolean | Promise<boolean> => sending.bytes.take(more);
  const body = await readWholeBody(answer.body, { limit: mostBytes, hold }, sending.signal);
  if (!body.ok) throw refuse(answer, bodyFaults[body.fault]);
  const judged = body.bytes.length === 0 ? body.bytes : await judgeMessage(body.bytes, facts, hold);
  const { exchange } = sending;
  const content = judged.length === 0 ? {} : { 'content-type': 'application/json' };
  sending.onSent(judged.length);
  exchange.outgoing.writeHead(answer.status, { ...headersOf(answer, exchange), ...content }).end(judged);
}

async function sendStream(
  answer: Answer,
  facts: AnswerFacts,
  { exchange, signal, idleMs, onSent, bytes }: Sending,
): Promise<void> {
  const { outgoing, trace } = exchange;
  const write = (text: string): void => {
    if (!outgoing.headersSent) {
      const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
      outgoing.writeHead(200, { ...headersOf(answer, exchange), ...headers });
    }
    onSent(Buffer.byteLength(text));
    outgoing.write(text);
  };
  const reader = new SseReader(mostBytes);
  const frames = new HeldFrames(bytes);
  const hold = (more: number): boolean | Promise<boolean> =>
    frames.cover(reader.heldBytes + judge.heldBytes + outgoing.writableLength + more);
  const emit = (data: Buffer): void => write(`data: ${data.toString('utf8')}\n\n`);
  const judge = createEventJudge(facts, { signal, hold, emit });
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      reader.push(chunk);
      for (let event = reader.next(); event !== undefined; event = reader.next()) {
        if (event.kind === 'too_large') throw refuse(answer);
        if (event.kind === 'data') await judge.take(event.data);
        else if (outgoing.headersSent) write(':\n\n');
        if (outgoing.destroyed) throw new AgentRefusal('cancelled');
      }
      // The next bytes of the stream are read only after the held bytes are counted in the budget.
      if (!(await hold(0))) throw new AgentRefusal('overloaded');
      await drained(outgoing, idleMs, signal);
      // Releases the bytes that the client has read.
      await hold(0);
    }
    await judge.end();
    outgoing.end();
  } catch (thrown) {
    answer.body.destroy();
    const error = thrown instanceof AgentRefusal ? thrown : new AgentRefusal('agent_unavailable');
    if (signal.aborted && !(thrown instanceof AgentRefusal)) throw signal.reason;
    if (outgoing.headersSent && !outgoing.destroyed && error.code !== 'cancelled') {
      await endWith(outgoing, `event: error\ndata: ${refusalBody(error, trace.traceId).toString()}\n\n`, {
        idleMs,
        signal,
      });
    }
    throw error;
  }
}

/**
 * Resolves when the client has received the last event, has disconnected, has read and sent nothing for `idleMs`, or
 * when the time of the call has expired.
 */
function endWith(
  outgoing: ServerResponse,
  event: string,
  { idleMs, signal }: Pick<Sending, 'idleMs' | 'signal'>,
): Promise<void> {
  return new Promise((resolve) => {
    // The time of the socket begins again with each part that the client reads, and with each that it sends.
    outgoing.setTimeout(idleMs, resolve);
    const over = signal.aborted ? AbortSignal.timeout(idleMs) : signal;
    over.addEventListener('abort', () => resolve(), { once: true });
    outgoing.once('close', () => resolve());
    // The timeout is set back before Node begins the next answer of the connection, because that answer has no such
    // limit.
    outgoing.prependOnceListener('finish', () => outgoing.setTimeout(0));
    outgoing.end(event);
  });
}

function refuse({ body }: Answer, code: AgentRefusal['code'] = 'answer_refused'): AgentRefusal {
  body.on('error', () => undefined).destroy();
  return new AgentRefusal(code);
}

/** A client that does not read stops the process from being read. @throws AgentRefusal cancelled */
async function drained(outgoing: ServerResponse, idleMs: number, signal: AbortSignal): Promise<void> {
  if (!outgoing.writableNeedDrain) return;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const closed = once(outgoing, 'close', { signal: either }).then(() => 'gone');
  const free = once(outgoing, 'drain', { signal: either }).then(() => 'free');
  outgoing.setTimeout(idleMs);
  const late = once(outgoing, 'timeout', { signal: either }).then(() => 'gone');
  try {
    if ((await Promise.race([closed, free, late])) === 'gone') throw new AgentRefusal('cancelled');
  } finally {
    outgoing.setTimeout(0);
    stop.abort();
    await Promise.allSettled([closed, free, late]);
  }
}

/** An id of a session reaches the client only in the form of an id. */
function headersOf({ headers }: Answer, { trace }: AgentExchange): Record<string, string> {
  const session = headers['mcp-session-id'];
  const isId = typeof session === 'string' && /^[0-9A-Za-z-]{1,64}$/.test(session);
  return {
    traceparent: trace.traceparent,
    'cache-control': 'no-store',
    ...(isId ? { 'mcp-session-id': session } : {}),
  };
}
