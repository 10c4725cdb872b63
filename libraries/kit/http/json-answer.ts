import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Answers with a JSON body and its length. `body` must not be undefined. */
export function sendJson(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
  sendBytes(outgoing, status, 'application/json', bytes, headers);
}

/** A body of at most this size is copied, so that it is sent in one write together with the head. */
const maxCopiedBytes = 65_536;

/** Answers with a body, in one or several pieces, and its length. Does nothing if the client has disconnected. */
export function sendBytes(
  outgoing: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array | readonly Uint8Array[],
  headers: OutgoingHttpHeaders = {},
): void {
  const pieces = body instanceof Uint8Array ? [body] : body;
  const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  outgoing.writeHead(status, { ...headers, 'content-type': contentType, 'content-length': length });
  if (length <= maxCopiedBytes) {
    // Latin-1 keeps every byte, and Node appends a string to the head.
    outgoing.end(latin1Of(pieces), 'latin1');
    return;
  }
  for (const piece of pieces.slice(0, -1)) outgoing.write(piece);
  outgoing.end(pieces.at(-1));
}

function latin1Of(pieces: readonly Uint8Array[]): string {
  let text = '';
  for (const { buffer, byteOffset, byteLength } of pieces) {
    text += Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
  }
  return text;
}
