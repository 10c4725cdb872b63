import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeAtomic } from '#kit/files/write-atomic';

const againMs = 1_000;

/**
 * Keeps a note in the run folder for as long as a process runs. Settles after the first try: a folder that is full or
 * gone keeps nobody from being supervised, is said once, and is tried again until the note stands.
 */
export async function keepRunNote(
  path: string,
  text: string,
  ended: Promise<unknown>,
  say: (sentence: string) => void,
): Promise<void> {
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
    remove(path);
  });

  async function write(): Promise<boolean> {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await writeAtomic(path, text);
    } catch {
      return false;
    }
    if (isOver) remove(path);
    return true;
  }

  async function tryAgain(): Promise<void> {
    for (;;) {
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, againMs).unref())]);
      if (isOver || (await write())) return;
    }
  }

  if (await write()) return;
  say(`${path} cannot be written; trying again every second`);
  void tryAgain();
}

/** Nobody trusts a note without its process, so one that cannot be removed does no harm. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The folder is read-only or gone.
  }
}
