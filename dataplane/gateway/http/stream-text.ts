import type { ServerResponse } from 'node:http';
import type { CheckOutcome } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import { estimateUsage } from '../chat/estimate-tokens.ts';
import { untilRead } from '../relay/bound-unread.ts';
import type { ClientError } from '../relay/client-error.ts';
import { interruptionError } from '../relay/interruption.ts';
import type { FrameSink, StreamMachine } from '../relay/relay-stream.ts';
import { relayStream } from '../relay/relay-stream.ts';
import type { SentBody } from '../relay/sent-body.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { writeFrame } from '../stream/write-frame.ts';
import { releasedBodyBytes } from '../upstream/upstream-client.ts';
import { callProvider } from './call-provider.ts';
import { errorAnswer } from './errors.ts';
import { type ClientResponse, type RequestContext, refusalTextOf } from './request-context.ts';

type StreamedCall = {
  readonly path: string;
  readonly isOptional: boolean;
  readonly body: SentBody;
  /** Whether the guard of the stream reads the body of the request. */
  readonly needsBody: boolean;
  /** Whether a check masked the request. */
  readonly masked: boolean;
  /** Address and limits of the window checks; undefined for an unguarded route. */
  readonly target: CheckTarget | undefined;
  /** The guard of the stream, or its relay for an unguarded route. */
  readonly machine: StreamMachine;
  /** Bytes of the texts of the request. */
  readonly textBytes: number;
};

/**
 * Streams the answer of a provider. Once the stream has begun, its HTTP status stays 200 even if the stream ends with
 * an error.
 */
export async function streamText(
  context: RequestContext,
  route: TakenRoute,
  call: StreamedCall,
): Promise<ClientResponse> {
  const { gateway, life, outgoing } = context;
  const { machine, masked, target } = call;
  const answer = await callProvider(context, route, { ...call, accept: 'text/event-stream' });
  if (answer.kind === 'error') return answer;
  if (!call.needsBody && call.body.bytes.length >= releasedBodyBytes) call.body[Symbol.dispose]();
  const frames = beginFrames(outgoing, { refusalText: refusalTextOf(context.pin), idleMs: gateway.clientIdleMs });
  try {
    const end = await relayStream({
      body: answer.body,
      machine,
      sink: frames,
      check: (texts, signal) => judgeWindow(context, target, texts, signal),
      idleMs: gateway.streamIdleMs,
      bytes: context.bytes,
      signal: life.signal,
    });
    const error = end.kind === 'stopped' ? end.error : undefined;
    frames.end(error);
    return { kind: 'streamed', error, stage: end.kind === 'stopped' ? end.stage : 'none', masked };
  } catch (reason) {
    const error = interruptionError(reason);
    if (error === undefined) throw reason;
    frames.end(error);
    return { kind: 'streamed', error, stage: 'none', masked };
  } finally {
    // Most providers report the tokens of a stream only if the client requests it, and no provider reports those of an
    // interrupted stream.
    context.usage ??= estimateUsage({ input: call.textBytes, output: machine.textBytes });
  }
}

async function judgeWindow(
  { gateway, checks }: RequestContext,
  target: CheckTarget | undefined,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<CheckOutcome> {
  if (target === undefined) throw new Error('an unguarded route requested the check of a window');
  const messages = texts.map((content) => ({ role: 'assistant', content }));
  const outcome = await checks.check(target, 'response', messages, { mode: 'sse-reject', signal });
  gateway.metrics.window(outcome.kind);
  return outcome;
}

/**
 * Begins a streamed answer with status 200; later errors appear only inside the stream
 * (`gateway:stream:http-200-then-blocked`). A client that reads nothing for `idleMs` milliseconds is disconnected.
 */
function beginFrames(
  outgoing: ServerResponse,
  { refusalText, idleMs }: { readonly refusalText: string | undefined; readonly idleMs: number },
): FrameSink & { end(error: ClientError | undefined): void } {
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  // The head leaves with the first frame if that has already arrived, else alone.
  const flush = setImmediate(() => outgoing.flushHeaders());
  return {
    async write(bytes, signal) {
      if (signal.aborted) throw signal.reason;
      clearImmediate(flush);
      if (!outgoing.write(bytes)) await untilRead(outgoing, idleMs, signal);
    },
    /** The error object in a stream is the same as that of a whole answer. */
    end(error) {
      clearImmediate(flush);
      if (error === undefined) outgoing.end();
      else outgoing.end(writeFrame(errorAnswer(error, refusalText).body));
    },
  };
}
