import type { ServerResponse } from 'node:http';
import { AgentError } from '../calls/agent-error.ts';

/**
 * Bytes that one reader, and all readers of the process together, may leave unread; in the limit for all readers, a
 * piece that several readers share counts once. One event has at most 6 MiB: a text of 1 MiB whose every character is
 * escaped.
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
   * Sends a piece, even if the connection has not taken the earlier ones.
   * @returns false, and sends nothing, if the reader has left more than its bytes unread
   */
  send(piece: Buffer): boolean;
};

/** The readers of all streams of one process. Bytes that they have not read stay in the memory of the process. */
export type StreamReaders = {
  /** Counts a stream until its client has read all of it or its connection is closed. @throws AgentError too_many_runs */
  open(outgoing: ServerResponse): StreamReader;
  /**
   * Counts the unread rest of an answer that was written at once, until its client has read it or its connection is
   * closed.
   */
  answered(outgoing: ServerResponse): void;
};

export function createStreamReaders({ readers, ownBytes, allBytes }: ReaderLimits): StreamReaders {
  const open = new Map<ServerResponse, Unread>();
  const answers = new Map<ServerResponse, Unread>();
  const unread = createSharedUnread();
  let isPlanned = false;

  /** Later: the connection takes the bytes of this turn of the event loop at its end. */
  function planRoom(): void {
    if (!isPlanned) setImmediate(makeRoom);
    isPlanned = true;
  }

  /**
   * Closes the connections that have read least, until the unread bytes of the remaining ones are within the limit for
   * all readers.
   */
  function makeRoom(): void {
    isPlanned = false;
    if (unread.bytes <= allBytes) return;
    const slowestFirst = [...open, ...answers].toSorted(([one], [other]) => other.writableLength - one.writableLength);
    for (const [outgoing, own] of slowestFirst) {
      if (unread.bytes <= allBytes) return;
      outgoing.destroy();
      own.clear();
    }
  }

  return {
    open(outgoing) {
      if (open.size >= readers) throw new AgentError('too_many_runs');
      const own = unread.add();
      if (!outgoing.destroyed) {
        open.set(outgoing, own);
        outgoing.once('close', () => {
          open.delete(outgoing);
          own.clear();
        });
      }
      return {
        send(piece) {
          if (outgoing.writableLength > ownBytes) return false;
          if (outgoing.destroyed) return true;
          outgoing.write(piece, own.hold(piece));
          planRoom();
          return true;
        },
      };
    },
    answered(outgoing) {
      const { writableLength: length, destroyed } = outgoing;
      if (destroyed || length === 0 || open.has(outgoing)) return;
      const own = unread.add();
      own.hold({ length });
      answers.set(outgoing, own);
      outgoing.once('close', () => {
        answers.delete(outgoing);
        own.clear();
      });
      planRoom();
    },
  };
}

/** Bytes that are written to readers; a piece that several readers share is one object. */
type Piece = { readonly length: number };

/** The pieces that one reader has not read yet. */
type Unread = {
  /** @returns a function that releases the piece, once */
  hold(piece: Piece): () => void;
  clear(): void;
};

/** The bytes of the pieces that at least one reader has not read: these pieces are still in memory. */
function createSharedUnread(): { readonly bytes: number; add(): Unread } {
  const holders = new Map<Piece, number>();
  let bytes = 0;

  function change(piece: Piece, by: 1 | -1): void {
    const before = holders.get(piece) ?? 0;
    if (before + by === 0) holders.delete(piece);
    else holders.set(piece, before + by);
    if (before === 0) bytes += piece.length;
    else if (before + by === 0) bytes -= piece.length;
  }

  return {
    get bytes() {
      return bytes;
    },
    add() {
      const releases = new Set<() => void>();
      return {
        hold(piece) {
          change(piece, 1);
          const release = (): void => {
            if (releases.delete(release)) change(piece, -1);
          };
          releases.add(release);
          return release;
        },
        clear() {
          for (const release of releases) release();
        },
      };
    },
  };
}
