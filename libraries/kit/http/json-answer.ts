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

/** Answers with a body, whole or in pieces, and its length. Does nothing if the client has disconnected. */
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
  for (const piece of pieces.slice(0, -1)) outgoing.write(piece);
  outgoing.end(pieces.at(-1));
}
