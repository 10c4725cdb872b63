import type { ServerResponse } from 'node:http';
import { AgentError } from '../calls/agent-error.ts';

/**
 * Bytes that one reader, and all readers of the process together, may leave unread. One event has at most 6 MiB: a text of 1 MiB
 * whose every character is escaped.
 */
export const unreadLimits = { ownBytes: 8 * 1_048_576, allBytes: 32 * 1_048_576 } as const;

type ReaderLimits = {
  /** Streams at the same time, including those that have ended and were not read yet. */
  readonly readers: number;
  readonly ownBytes: number;
  readonly allBytes: number;
};

/** The stream of one reader. */
export type StreamReader = {
  /**
   * Sends a piece, also if the connection has not taken the earlier ones.
   * @returns false, and sends nothing, if the reader has left more than its bytes unread
   */
  send(piece: Buffer): boolean;
};

/** The readers of all streams of one process: what they leave unread is in its memory. */
export type StreamReaders = {
  /** Counts a stream until its client has read all of it or its connection is closed. @throws AgentError too_many_runs */
  open(outgoing: ServerResponse): StreamReader;
};

export function createStreamReaders({ readers, ownBytes, allBytes }: ReaderLimits): StreamReaders {
  const open = new Set<ServerResponse>();
  let isPlanned = false;

  /** Closes the connections that have read least, until the others leave no more unread than all may. */
  function makeRoom(): void {
    isPlanned = false;
    const unread = [...open].map((outgoing) => ({ outgoing, bytes: outgoing.writableLength }));
    let all = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { outgoing, bytes } of unread.toSorted((one, other) => other.bytes - one.bytes)) {
      if (all <= allBytes) return;
      all -= bytes;
      outgoing.destroy();
    }
  }

  return {
    open(outgoing) {
      if (open.size >= readers) throw new AgentError('too_many_runs');
      if (!outgoing.destroyed) {
        open.add(outgoing);
        outgoing.once('close', () => open.delete(outgoing));
      }
      return {
        send(piece) {
          if (outgoing.writableLength > ownBytes) return false;
          outgoing.write(piece);
          // Later: the connection takes the bytes of this turn of the event loop at its end.
          if (!isPlanned) setImmediate(makeRoom);
          isPlanned = true;
          return true;
        },
      };
    },
  };
}
