import { once } from 'node:events';
import { createServer, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ElectorOptions } from './elector-process.ts';

/**
 * How a request is handled: forwarded; answered with a status without being forwarded; forwarded and answered with another
 * status; forwarded and never answered; or neither. The connection stays open in all cases.
 */
type ProxyFate =
  | 'served'
  | { readonly refused: number }
  | { readonly doneBut: number }
  | 'done_unanswered'
  | 'unanswered';

/** An HTTP proxy in front of a resource server, with TLS to the server if its URL says so. */
export type FaultyProxy = AsyncDisposable & {
  readonly url: string;
  /** Chooses the fault of each request. */
  fate: (incoming: IncomingMessage) => ProxyFate;
  /** Open connections accept bytes but never answer again, and are not closed. */
  silence(): void;
  /** Number of connections so far. */
  readonly connections: () => number;
  /** `METHOD status` of every request that was forwarded and answered. */
  readonly passed: readonly string[];
};

export async function startFaultyProxy(target: Pick<ElectorOptions, 'url' | 'caPem' | 'clientCertificate'>) {
  const { caPem, clientCertificate } = target;
  const tls = { ...(caPem === undefined ? {} : { ca: caPem }), ...clientCertificate };
  const sendRequest = target.url.startsWith('https:') ? tlsRequest : plainRequest;
  const state: Pick<FaultyProxy, 'fate'> = { fate: () => 'served' };
  const silent = new WeakSet<Socket>();
  const open = new Set<Socket>();
  const passed: string[] = [];
  let connections = 0;

  function pass(incoming: IncomingMessage, outgoing: ServerResponse, answerWith: number | 'as is' | 'never'): void {
    const { method = 'GET', headers, url = '/' } = incoming;
    const { host: _host, ...rest } = headers;
    const onward = sendRequest(`${target.url}${url}`, { method, headers: rest, ...tls }, (answer) => {
      passed.push(`${method} ${answer.statusCode}`);
      if (answerWith === 'as is') {
        outgoing.writeHead(answer.statusCode ?? 502, {
          'content-type': answer.headers['content-type'] ?? 'text/plain',
        });
        outgoing.flushHeaders();
        answer.on('error', () => outgoing.destroy());
        // A silenced connection delivers no further watch events.
        answer.on('data', (chunk: Buffer) => silent.has(incoming.socket) || outgoing.write(chunk));
        answer.on('end', () => silent.has(incoming.socket) || outgoing.end());
        return;
      }
      answer.resume();
      if (answerWith !== 'never') refuse(outgoing, answerWith);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }

  const server = createServer((incoming, outgoing) => {
    if (silent.has(incoming.socket)) return;
    const fate = state.fate(incoming);
    if (fate === 'unanswered') return;
    if (fate === 'served') return pass(incoming, outgoing, 'as is');
    if (fate === 'done_unanswered') return pass(incoming, outgoing, 'never');
    if ('doneBut' in fate) return pass(incoming, outgoing, fate.doneBut);
    incoming.resume();
    incoming.on('end', () => refuse(outgoing, fate.refused));
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence() {
      for (const socket of open) silent.add(socket);
    },
    connections: () => connections,
    passed,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  }) satisfies FaultyProxy;
}

const reasons: Readonly<Record<number, string>> = { 409: 'Conflict', 500: 'InternalError', 503: 'ServiceUnavailable' };

function refuse(outgoing: ServerResponse, code: number): void {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: reasons[code] ?? 'Unknown', code };
  outgoing.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
}
