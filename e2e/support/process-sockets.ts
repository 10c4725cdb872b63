import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The socket state of an established connection (Linux, include/net/tcp_states.h). */
const established = '01';

/** The inode numbers of the sockets that a process holds, of all kinds; empty when it has exited. Linux only. */
export function socketsOf(pid: number): ReadonlySet<string> {
  const found = new Set<string>();
  for (const fd of listed(`/proc/${pid}/fd`)) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
    if (inode !== undefined) found.add(inode);
  }
  return found;
}

type TcpConnection = { readonly localPort: number; readonly remotePort: number; readonly isEstablished: boolean };

/** The IPv4 connections of these sockets, in any state but those without a socket. @param sockets as `socketsOf` returns them */
export function tcpConnections(sockets: ReadonlySet<string>): readonly TcpConnection[] {
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n');
  return lines.flatMap((line) => {
    const [, local = '', remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (!sockets.has(inode)) return [];
    return [{ localPort: portOf(local), remotePort: portOf(remote), isEstablished: state === established }];
  });
}

/** Number of these sockets that are established IPv4 connections to a port. */
export function connectionsTo(port: number, sockets: ReadonlySet<string>): number {
  return tcpConnections(sockets).filter(({ remotePort, isEstablished }) => isEstablished && remotePort === port).length;
}

/** @param address as the kernel writes it, `0100007F:1F90` */
function portOf(address: string): number {
  return Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The target of a link; empty if the descriptor was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
