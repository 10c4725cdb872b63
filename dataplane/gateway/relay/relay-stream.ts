import type { CheckOutcome } from '#checks/check-outcome';
import { createDeadlines } from '#kit/concurrency/deadlines';
import type { GuardStep, StreamStop, WindowVerdict } from '../stream/stepped-guard.ts';
import type { AnswerBody } from '../upstream/answer-body.ts';
import { type ClientError, plainError } from './client-error.ts';
import { HeldFrames, type RequestBytes } from './held-frames.ts';

/** The guard of a stream; for an unguarded model, a relay that checks nothing. */
export type StreamMachine = {
  receive(bytes: Uint8Array): void;
  close(): void;
  judged?(judgement: WindowVerdict): void;
  next(): GuardStep;
  /** The memory of the held frames and texts, bytes; absent if the guard holds none. */
  readonly heldBytes?: number;
  /** Bytes of the texts that the upstream has sent up to now. */
  readonly textBytes: number;
};

/**
 * The client's end of a stream. `write` resolves when more may be written; it rejects with the reason of the signal.
 */
export type FrameSink = { write(bytes: Uint8Array, signal: AbortSignal): Promise<void> };

type StreamEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'stopped'; readonly error: ClientError; readonly stage: 'response' | 'none' };

type RelayOptions = {
  readonly body: AnswerBody;
  readonly machine: StreamMachine;
  readonly sink: FrameSink;
  /** Judges one window, or the texts of tool calls. */
  readonly check: (texts: readonly string[], signal: AbortSignal) => Promise<CheckOutcome>;
  /** Longest pause of the upstream between two pieces of a stream, milliseconds. */
  readonly idleMs: number;
  /** The bytes that the request holds, of which the held frames of the stream are a part. */
  readonly bytes: RequestBytes;
  readonly signal: AbortSignal;
};

/** A stream is read in many pieces, and nearly each one arrives in time. */
const deadlines = createDeadlines();

type Part = Uint8Array | 'end' | 'broken' | 'idle';

/**
 * Relays a stream from the upstream to the client, one step of the guard at a time. Nothing is read from the upstream
 * while a window is judged, while the client does not read, or while other requests hold the bytes that it needs.
 * Rejects only with the Interruption of the signal.
 */
export async function relayStream(options: RelayOptions): Promise<StreamEnd> {
  const { body, machine, sink, signal } = options;
  const parts = body[Symbol.asyncIterator]();
  const frames = new HeldFrames(options.bytes);
  let isFinished = false;
  try {
    for (;;) {
      const step = machine.next();
      switch (step.kind) {
        case 'emit':
          await sink.write(step.bytes, signal);
          break;
        case 'check':
        case 'read': {
          const covered = frames.cover(machine.heldBytes ?? 0);
          const isCovered = typeof covered === 'boolean' ? covered : await covered;
          if (signal.aborted) throw signal.reason;
          if (!isCovered) return { kind: 'stopped', error: plainError('overloaded'), stage: 'none' };
          if (step.kind === 'check') {
            machine.judged?.(await judge(options, step.texts));
            break;
          }
          const part = await readPart(parts, options);
          if (part === 'idle') return { kind: 'stopped', error: plainError('upstream_timeout'), stage: 'none' };
          if (part === 'broken') return { kind: 'stopped', error: plainError('upstream_broken'), stage: 'none' };
          if (part === 'end') machine.close();
          else machine.receive(part);
          break;
        }
        case 'finished':
          isFinished = true;
          return { kind: 'finished' };
        case 'stopped':
          return { kind: 'stopped', ...describeStop(step.stop) };
      }
    }
  } finally {
    // Some providers end the body of a stream only after its last event.
    if (isFinished) body.drain();
    else body.destroy();
  }
}

async function judge({ check, signal }: RelayOptions, texts: readonly string[]): Promise<WindowVerdict> {
  const outcome = await check(texts, signal);
  if (signal.aborted) throw signal.reason;
  switch (outcome.kind) {
    case 'pass':
      return { kind: 'pass' };
    case 'deny':
    case 'mask':
      return { kind: 'deny' };
    case 'failed':
      return { kind: 'failed', code: outcome.code };
  }
}

async function readPart(parts: AsyncIterator<Buffer>, { body, idleMs, signal }: RelayOptions): Promise<Part> {
  let idle = false;
  const due = deadlines.start(idleMs, () => {
    idle = true;
    body.destroy();
  });
  try {
    const part = await parts.next();
    return part.done === true ? 'end' : part.value;
  } catch {
    if (idle) return 'idle';
    if (signal.aborted) throw signal.reason;
    return 'broken';
  } finally {
    deadlines.cancel(due);
  }
}

function describeStop(stop: StreamStop): { readonly error: ClientError; readonly stage: 'response' | 'none' } {
  switch (stop.kind) {
    case 'denied':
      return { error: plainError('policy_denied'), stage: 'response' };
    case 'check_failed':
      return { error: { kind: 'check_failed', code: stop.code }, stage: 'response' };
    case 'upstream':
      return { error: plainError(upstreamFaults[stop.fault]), stage: 'none' };
  }
}

const upstreamFaults = {
  invalid: 'upstream_invalid',
  event_too_large: 'upstream_too_large',
  held_too_much: 'upstream_too_large',
  broken: 'upstream_broken',
  unjudged: 'unjudged_answer',
  failed: 'upstream_failed',
} as const;
