import type { ServerResponse } from 'node:http';

/**
 * Closes the connection of a client that stops reading an answer that has ended, so that unread answers do not fill the
 * memory.
 * @param ms how long the client may read nothing, milliseconds
 */
export function boundUnread(outgoing: ServerResponse, ms: number): void {
  if (outgoing.destroyed || outgoing.writableLength === 0) return;
  outgoing.setTimeout(ms, () => outgoing.destroy());
}
