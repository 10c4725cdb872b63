import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import { findLastingPort, waitForPort } from './free-port.ts';

const portsSchema = z.record(z.string(), z.int().min(1).max(65_535));

/** A leftover process releases its port within seconds. */
const patienceMs = 2_000;

/** Ports of the addresses of processes, by process and purpose. */
export type LastingPorts = { of(name: string): number };

/**
 * The ports that the processes of a data directory had at the last start, so that clients can keep using their
 * addresses. A new address, or an address whose port another program uses now, gets a free port, which is recorded.
 * @param reserved ports that other processes of the platform are about to listen on
 */
export async function chooseLastingPorts(
  data: DataDirectory,
  names: readonly string[],
  reserved: readonly number[],
  say: (sentence: string) => void,
): Promise<LastingPorts> {
  const recorded = readPorts(data.ports);
  const chosen = new Map<string, number>();
  for (const name of names) {
    const before = recorded[name];
    const isFree = before !== undefined && !reserved.includes(before) && (await waitForPort(before, patienceMs));
    const taken = [...reserved, ...Object.values(recorded), ...chosen.values()];
    const port = isFree ? before : await findLastingPort(taken);
    if (before !== undefined && !isFree) {
      say(`port ${before} of ${name} is used by another process: it has port ${port} from now on`);
    }
    chosen.set(name, port);
  }
  // Replicas that are not started now keep their ports.
  const text = `${JSON.stringify({ ...recorded, ...Object.fromEntries(chosen) }, undefined, 2)}\n`;
  await writeAtomic(data.ports, Buffer.from(text), { mode: 0o600 });
  return {
    of(name) {
      const port = chosen.get(name);
      if (port === undefined) throw new Error(`no port was chosen for ${name}`);
      return port;
    },
  };
}

/** The recorded ports; empty if the file is missing or invalid, in which case it is written again. */
function readPorts(path: string): Readonly<Record<string, number>> {
  try {
    return portsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return {};
  }
}
