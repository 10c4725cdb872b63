import type { ServerResponse } from 'node:http';

/** The error response for unknown paths and methods. */
export function sendNotFound(outgoing: ServerResponse): void {
  send(outgoing, 404, { error: 'not_found' });
}

/** Response when the signing keys cannot be read. An empty key set instead would revoke all keys. */
export function sendUnavailable(outgoing: ServerResponse): void {
  send(outgoing, 503, { error: 'unavailable' });
}

export function sendDocument(outgoing: ServerResponse, value: object): void {
  send(outgoing, 200, value);
}

function send(outgoing: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  outgoing.end(body);
}
