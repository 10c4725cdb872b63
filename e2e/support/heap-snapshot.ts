import { createReadStream, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '#kit/testing/until';
import type { RunningProcess } from './start-process.ts';

/** Settings of a process that writes a snapshot of its heap into a folder each time `takeSnapshot` requests one. */
export function snapshotSettings(folder: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}` };
}

/** The file with the live objects of a process after a garbage collection. */
export async function takeSnapshot({ pid, signal }: RunningProcess, folder: string): Promise<string> {
  const written = (): readonly string[] => readdirSync(folder).filter((name) => name.includes(`.${pid}.`));
  for (const name of written()) rmSync(join(folder, name));
  signal('SIGUSR2');
  return await until(`process ${pid} has written its heap`, async () => {
    const [name] = written();
    if (name === undefined) return undefined;
    // The file is complete once its outermost object is closed.
    const isComplete = /\]\s*\}\s*$/.test(await endOf(join(folder, name)));
    return isComplete ? join(folder, name) : undefined;
  });
}

async function endOf(path: string): Promise<string> {
  await using file = await open(path);
  const length = 20;
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, Math.max(0, size - length));
  return buffer.toString();
}

/** Whether a file of any size contains a text. */
export async function fileContains(path: string, text: string): Promise<boolean> {
  let kept = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) {
    const joined = Buffer.concat([kept, chunk as Buffer]);
    if (joined.includes(text)) return true;
    kept = joined.subarray(-text.length);
  }
  return false;
}
