import type { CheckOutcome } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import { interruptionError } from '../relay/interruption.ts';
import { relayStream } from '../relay/relay-stream.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { PlainStream } from '../stream/plain-stream.ts';
import { StreamGuard } from '../stream/stream-guard.ts';
import { callProvider } from './call-provider.ts';
import { beginFrames } from './frame-sink.ts';
import type { OperationResult, RequestContext } from './request-context.ts';

type StreamedCall = {
  readonly path: string;
  readonly body: Uint8Array;
  /** Whether the input was masked. */
  readonly masked: boolean;
  /** Target of the checks of windows; undefined for an unguarded route. */
  readonly target: CheckTarget | undefined;
};

/** Streams the answer of a provider. Once the stream has begun, its status is 200 even if it ends with an error. */
export async function streamChat(
  context: RequestContext,
  route: TakenRoute,
  call: StreamedCall,
): Promise<OperationResult> {
  const { gateway, life, outgoing } = context;
  const { body, masked, path, target } = call;
  const answer = await callProvider(context, route, { path, body, accept: 'text/event-stream' });
  if (answer.kind === 'error') return answer;
  const frames = beginFrames(outgoing);
  try {
    const end = await relayStream({
      body: answer.body,
      machine: target === undefined ? new PlainStream() : new StreamGuard(),
      sink: frames,
      check: (text, signal) => judgeWindow(context, target, text, signal),
      idleMs: gateway.streamIdleMs,
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
  }
}

async function judgeWindow(
  { gateway }: RequestContext,
  target: CheckTarget | undefined,
  text: string,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  if (target === undefined) throw new Error('a route without a guard has no windows');
  const messages = [{ role: 'assistant', content: text }];
  const outcome = await gateway.checks.check(target, 'response', messages, { mode: 'sse-reject', signal });
  gateway.metrics.window(outcome.kind);
  return outcome;
}
