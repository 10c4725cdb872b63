import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendPlain } from 'node:http';
import { request as sendTls, Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** A request with its complete body, before it is forwarded. */
export type ProxiedRequest = {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The fault of one request. With the faults of `Unforwarded` the request does not reach the server. */
export type Fault = Unforwarded | Forwarded;

type Unforwarded =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'reset' }
  /** The request is never answered, and its connection stays open. */
  | { readonly kind: 'silence' };

type Forwarded =
  | { readonly kind: 'pass' }
  /** The request is forwarded after this time. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The request is forwarded with another value of a header. */
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'rewrite'; readonly rewrite: (answer: Answer) => Answer }
  /** The answer is withheld: the connection is reset, or stays open. */
  | { readonly kind: 'lost'; readonly ending: 'reset' | 'silence' }
  /** The answer ends after half of its body. */
  | { readonly kind: 'truncate' }
  /** After some bytes of the body, the proxy resets the connection, ends the body, or sends no more bytes. */
  | { readonly kind: 'cut'; readonly ending: 'reset' | 'end' | 'silence' }
  /** Every byte of the body is sent in a separate chunk. */
  | { readonly kind: 'shred' };

/** An HTTP proxy that injects faults, with TLS to the server if its URL is https. */
export type FaultyProxy = AsyncDisposable & {
  readonly url: string;
  /** URL of the server; may change at any time. */
  target: string;
  /** Chooses the fault of each request. */
  choose: (request: ProxiedRequest) => Fault;
  /** Resets every connection, including each new one, until it is called with false. */
  part(isParted: boolean): void;
  /** Silences the open connections: they stay open, but transfer no more bytes to the client. */
  silence(): void;
  /** Number of connections since the start. */
  readonly connections: () => number;
  /** Number of faults since the start: requests with a fault, and connections that were reset or silenced. */
  readonly faults: () => number;
  /** `METHOD status` of every request that the server answered. */
  readonly passed: readonly string[];
};

type Tls = { readonly ca?: string | undefined; readonly cert?: string; readonly key?: string };

export async function startFaultyProxy(target: string, tls: Tls = {}): Promise<FaultyProxy> {
  const agents = [new Agent(pool), new TlsAgent({ ...pool, ...tls })] as const;
  const open = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  const passed: string[] = [];
  const counts = { connections: 0, faults: 0 };
  let isParted = false;
  const state: Pick<FaultyProxy, 'target' | 'choose'> = { target, choose: () => ({ kind: 'pass' }) };

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', rawHeaders, socket } = incoming;
    const body = await text(incoming);
    if (silent.has(socket)) return;
    const asked = { method, path, rawHeaders, body };
    const fault = state.choose(asked);
    if (fault.kind !== 'pass') counts.faults += 1;
    switch (fault.kind) {
      case 'answer':
        return send(outgoing, fault.answer);
      case 'reset':
        return void socket.resetAndDestroy();
      case 'silence':
        return;
    }
    if (fault.kind === 'delay') await pause(fault.ms);
    const answered = await forward(state.target, asked, fault, agents, outgoing);
    passed.push(`${method} ${answered.statusCode}`);
    await deliver(answered, outgoing, fault, () => silent.has(socket));
  }

  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => (silent.has(incoming.socket) ? undefined : incoming.socket.destroy()));
  });
  server.on('connection', (socket: Socket) => {
    counts.connections += 1;
    socket.on('error', () => undefined);
    if (isParted) {
      counts.faults += 1;
      socket.resetAndDestroy();
      return;
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  const url = await listenOnLoopback(server);
  return Object.assign(state, {
    url,
    part(next: boolean) {
      isParted = next;
      if (next) for (const socket of open) socket.resetAndDestroy();
    },
    silence() {
      for (const socket of open) silent.add(socket);
      counts.faults += open.size;
    },
    connections: () => counts.connections,
    faults: () => counts.faults,
    passed,
    async [Symbol.asyncDispose]() {
      for (const agent of agents) agent.destroy();
      await closeServer(server);
    },
  });
}

/** The settings of Node's global agent: idle connections end before most servers would close them. */
const pool = { keepAlive: true, timeout: 5_000, scheduling: 'lifo' } as const;
const ofOneConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** @returns the answer, with a body that is not read yet */
function forward(
  target: string,
  { method, path, rawHeaders, body }: ProxiedRequest,
  fault: Forwarded,
  [plain, tls]: readonly [Agent, TlsAgent],
  outgoing: ServerResponse,
): Promise<IncomingMessage> {
  const headers: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (ofOneConnection.has(lower) || lower === 'content-length') continue;
    if (lower === 'host') headers.push(name, new URL(target).host);
    else headers.push(name, fault.kind === 'header' && fault.name === lower ? fault.value : value);
  }
  if (body !== '') headers.push('content-length', String(Buffer.byteLength(body)));
  return new Promise((resolve, reject) => {
    const options = { method, headers };
    const onward = target.startsWith('https:')
      ? sendTls(`${target}${path}`, { ...options, agent: tls }, resolve)
      : sendPlain(`${target}${path}`, { ...options, agent: plain }, resolve);
    onward.on('error', reject).end(body);
    outgoing.on('close', () => onward.destroy());
  });
}

async function deliver(
  answered: IncomingMessage,
  outgoing: ServerResponse,
  fault: Forwarded,
  isSilent: () => boolean,
): Promise<void> {
  switch (fault.kind) {
    case 'rewrite':
    case 'truncate': {
      const headers = { 'content-type': answered.headers['content-type'] ?? 'application/json' };
      const answer = { status: answered.statusCode ?? 502, headers, body: await text(answered) };
      if (fault.kind === 'rewrite') return send(outgoing, fault.rewrite(answer));
      outgoing.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(answer.body) });
      outgoing.write(answer.body.slice(0, Math.floor(answer.body.length / 2)), () => outgoing.destroy());
      return;
    }
    case 'lost':
      for await (const _ of answered);
      if (fault.ending === 'reset') outgoing.socket?.resetAndDestroy();
      return;
    case 'pass':
    case 'delay':
    case 'header':
    case 'cut':
    case 'shred':
      return stream(answered, outgoing, fault, isSilent);
  }
}

/** Forwards each part of the body as it arrives. */
async function stream(
  answered: IncomingMessage,
  outgoing: ServerResponse,
  fault: Forwarded,
  isSilent: () => boolean,
): Promise<void> {
  if (isSilent()) return void answered.resume();
  const left = Object.entries(answered.headers).filter(([name]) => !ofOneConnection.has(name));
  const isWhole = fault.kind !== 'cut' && fault.kind !== 'shred';
  const headers = Object.fromEntries(left.filter(([name]) => isWhole || name !== 'content-length'));
  outgoing.writeHead(answered.statusCode ?? 502, headers);
  outgoing.flushHeaders();
  let allowed = fault.kind === 'cut' ? 200 + Math.random() * 3_000 : Number.POSITIVE_INFINITY;
  for await (const chunk of answered as AsyncIterable<Buffer>) {
    if (isSilent()) continue;
    const part = chunk.subarray(0, Math.max(0, Math.min(allowed, chunk.length)));
    if (fault.kind === 'shred') for (const byte of part) outgoing.write(Buffer.from([byte]));
    else if (part.length > 0) outgoing.write(part);
    allowed -= chunk.length;
    if (allowed > 0 || fault.kind !== 'cut') continue;
    if (fault.ending === 'reset') return void outgoing.socket?.resetAndDestroy();
    if (fault.ending === 'end') return void outgoing.end();
  }
  if (!isSilent() && !(fault.kind === 'cut' && fault.ending === 'silence')) outgoing.end();
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
