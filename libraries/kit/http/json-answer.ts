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

/** Answers with a body and its length. Does nothing if the client has disconnected. */
export function sendBytes(
  outgoing: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array,
  headers: OutgoingHttpHeaders = {},
): void {
  outgoing.writeHead(status, { ...headers, 'content-type': contentType, 'content-length': body.byteLength });
  outgoing.end(body);
}
