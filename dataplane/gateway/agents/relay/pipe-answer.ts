import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** How an answer ended: complete, by a failure of the process, by the client, or because the signal aborted. */
export type PipeEnd = {
  readonly kind: 'whole' | 'broken' | 'client_gone' | 'client_stuck' | 'aborted';
  readonly bytes: number;
  /** Whether the last bytes end an event of a stream, so that another event may follow. */
  readonly isBetweenEvents: boolean;
  /** Whether the last event of a stream is an error, which states the reason of the end. */
  readonly saysWhy: boolean;
};

/** More bytes than an event with an error can have. */
const tailBytes = 2_048;
const errorAtEnd = /(?:^|\n\n)event: error\ndata: [^\n]*\n\n$/;

type PipeOptions = {
  /** How long a client may read nothing before it is disconnected, milliseconds. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /**
   * Whether the answer is a stream, whose head is sent immediately. The head of a whole answer is sent together with
   * its first bytes, as one write.
   */
  readonly isStream: boolean;
};

/**
 * Forwards an answer as it arrives, without collecting it: a client that does not read pauses the process, and a client
 * that disconnects ends the call. Ends `outgoing` only after a whole answer. Never rejects.
 */
export function pipeAnswer(
  body: Readable,
  outgoing: ServerResponse,
  { idleMs, signal, isStream }: PipeOptions,
): Promise<PipeEnd> {
  return new Promise((resolve) => {
    let bytes = 0;
    let tail: Uint8Array = Buffer.alloc(0);
    let stuck: NodeJS.Timeout | undefined;

    function finish(kind: PipeEnd['kind']): void {
      clearTimeout(stuck);
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      outgoing.off('drain', onDrain).off('close', onGone);
      signal.removeEventListener('abort', onAbort);
      if (kind !== 'whole') {
        body.on('error', () => undefined);
        body.destroy();
      }
      const last = Buffer.from(tail).toString('latin1');
      resolve({ kind, bytes, isBetweenEvents: bytes === 0 || last.endsWith('\n\n'), saysWhy: errorAtEnd.test(last) });
    }
    function onData(chunk: Buffer): void {
      bytes += chunk.length;
      tail = Buffer.concat([tail, chunk.subarray(-tailBytes)]).subarray(-tailBytes);
      if (outgoing.write(chunk)) return;
      body.pause();
      stuck ??= setTimeout(() => finish('client_stuck'), idleMs);
    }
    function onDrain(): void {
      clearTimeout(stuck);
      stuck = undefined;
      body.resume();
    }
    function onEnd(): void {
      outgoing.end();
      finish('whole');
    }
    const onError = (): void => finish(signal.aborted ? 'aborted' : 'broken');
    const onClose = (): void => finish(signal.aborted ? 'aborted' : 'broken');
    const onGone = (): void => finish('client_gone');
    const onAbort = (): void => finish('aborted');

    if (isStream) outgoing.flushHeaders();
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    outgoing.on('drain', onDrain).on('close', onGone);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else if (outgoing.destroyed) onGone();
  });
}
