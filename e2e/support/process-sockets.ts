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

/**
 * Number of these sockets that are established IPv4 connections to a port. @param sockets as `socketsOf` returns them
 */
export function connectionsTo(port: number, sockets: ReadonlySet<string>): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n');
  return lines.filter((line) => {
    const [, , address = '', state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === established && address.endsWith(remote) && sockets.has(inode);
  }).length;
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty when the descriptor was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
