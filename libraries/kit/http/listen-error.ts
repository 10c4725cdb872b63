import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';

type ListenFault = 'port_in_use' | 'not_permitted' | 'bad_address' | 'other';

/** A server cannot listen on its address. */
export class ListenError extends Error {
  readonly code: ListenFault;

  constructor(code: ListenFault, host: string, port: number, cause: unknown) {
    super(`cannot listen on ${hostInUrl(host)}:${port}: ${SENTENCES[code]}`, { cause });
    this.name = 'ListenError';
    this.code = code;
  }
}

const SENTENCES = {
  port_in_use: 'another process uses this port',
  not_permitted: 'this process may not use this port',
  bad_address: 'this machine has no such address',
  other: 'the system refused',
} as const satisfies Record<ListenFault, string>;

const FAULTS: ReadonlyMap<string, ListenFault> = new Map([
  ['EADDRINUSE', 'port_in_use'],
  ['EACCES', 'not_permitted'],
  ['EPERM', 'not_permitted'],
  ['EADDRNOTAVAIL', 'bad_address'],
  ['EAFNOSUPPORT', 'bad_address'],
  ['EINVAL', 'bad_address'],
  ['ENOTFOUND', 'bad_address'],
  ['EAI_AGAIN', 'bad_address'],
]);

/**
 * Binds a server to an address.
 * @throws ListenError
 */
export async function bindServer(server: Server, host: string, port: number): Promise<{ port: number; url: string }> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    throw new ListenError(FAULTS.get(code) ?? 'other', host, port, cause);
  }
  // A later error concerns one connection that could not be accepted; the server keeps running.
  server.on('error', () => undefined);
  const bound = server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : bound.address;
  const scheme = server instanceof TlsServer ? 'https' : 'http';
  return { port: bound.port, url: `${scheme}://${hostInUrl(reachable)}:${bound.port}` };
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
