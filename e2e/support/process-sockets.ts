import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The state of a connection that both sides hold open (Linux, include/net/tcp_states.h). */
const established = '01';

/** The numbers of the sockets that a process holds, of all kinds; none where it has ended. Linux only. */
export function socketsOf(pid: number): ReadonlySet<string> {
  const found = new Set<string>();
  for (const fd of listed(`/proc/${pid}/fd`)) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
    if (inode !== undefined) found.add(inode);
  }
  return found;
}

/**
 * How many of these sockets are open connections to a port of IPv4.
 * @param sockets as `socketsOf` finds them
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

/** Empty where the descriptor was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
