import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunning } from '#kit/process/is-running';
import type { GatewayReplicas } from '../../ports.ts';

/** Interval between checks of the processes; the checks are local. */
const lookMs = 1_000;

const runFileSchema = z.looseObject({
  name: z.string(),
  kind: z.string(),
  pid: z.int().min(1),
  admin: z.url().optional(),
});

/** Gateway replicas as local processes; a running process has a file in the run folder. */
export function createGatewayProcesses(options: { readonly runDirectory: string }): GatewayReplicas {
  const { runDirectory } = options;
  let listener: (replica: string) => void = () => undefined;
  let known = new Set<string>();
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    const alive = new Set((await aliveReplicas(runDirectory)).keys());
    isLooking = false;
    const changed = alive.symmetricDifference(known);
    known = alive;
    for (const name of changed) listener(name);
  }

  const timer = setInterval(() => void look(), lookMs);
  timer.unref();

  return {
    async isAlive(replica) {
      const alive = (await aliveReplicas(runDirectory)).has(replica);
      // A caller that saw the replica alive must be notified of its end, even if it ends before the next check.
      if (alive) known.add(replica);
      return alive;
    },
    async admins() {
      const alive = [...(await aliveReplicas(runDirectory))].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return alive.map(([replica, origin]) => ({ replica, origin }));
    },
    onChange(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      listener = () => undefined;
    },
  };
}

/** The running replicas by name, each with the origin of its admin address. */
async function aliveReplicas(folder: string): Promise<Map<string, string | undefined>> {
  const names = await readdir(folder).catch(() => []);
  const alive = new Map<string, string | undefined>();
  for (const name of names.filter((candidate) => candidate.endsWith('.json'))) {
    const entry = runFileSchema.safeParse(await readJson(join(folder, name)));
    if (entry.success && entry.data.kind === 'gateway' && isRunning(entry.data.pid)) {
      alive.set(entry.data.name, entry.data.admin);
    }
  }
  return alive;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}
