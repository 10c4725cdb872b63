import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ClientError } from '../relay/client-error.ts';
import type { FrameSink } from '../relay/relay-stream.ts';
import { writeFrame } from '../stream/write-frame.ts';
import { errorAnswer } from './errors.ts';

/** Begins a streamed answer; later faults show in the stream only (`gateway:stream:http-200-then-blocked`). */
export function beginFrames(outgoing: ServerResponse): FrameSink & { end(error: ClientError | undefined): void } {
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  outgoing.flushHeaders();
  return {
    async write(bytes, signal) {
      if (signal.aborted) throw signal.reason;
      if (outgoing.write(bytes)) return;
      try {
        await once(outgoing, 'drain', { signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
    /** The error object of a stream is the one of a whole answer. */
    end(error) {
      if (error === undefined) outgoing.end();
      else outgoing.end(writeFrame(errorAnswer(error).body));
    },
  };
}
