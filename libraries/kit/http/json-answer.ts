import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Answers with a JSON body of known length. `undefined` as a body is a mistake of the program. */
export function sendJson(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  sendBytes(outgoing, status, 'application/json', Buffer.from(JSON.stringify(body)), headers);
}

/** Answers with a body of known length. Does nothing where the client is gone. */
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
