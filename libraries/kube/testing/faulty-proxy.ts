import { once } from 'node:events';
import { createServer, type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ElectorOptions } from './elector-process.ts';

/**
 * What happens to a request: it is passed on, answered with a status without being passed on, carried out and answered
 * with a status, carried out and never answered, or neither. The connection stays open in all cases.
 */
export type ProxyFate =
  | 'served'
  | { readonly refused: number }
  | { readonly doneBut: number }
  | 'done_unanswered'
  | 'unanswered';

/** An HTTP proxy before a server of resources, over TLS where the server asks for it. */
export type FaultyProxy = AsyncDisposable & {
  readonly url: string;
  /** Decides about each request. */
  fate: (incoming: IncomingMessage) => ProxyFate;
  /** Connections that are open now take what is sent and answer nothing more, and nobody says that they are dead. */
  silence(): void;
  /** Connections so far. */
  readonly connections: () => number;
  /** `METHOD status` of every request that was passed on and answered. */
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
        // What a silent connection would still hear of a watch is lost.
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
