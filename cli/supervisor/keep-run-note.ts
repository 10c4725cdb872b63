import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeAtomic } from '#kit/files/write-atomic';

const againMs = 1_000;

/**
 * Keeps a note in the run folder while a process runs. Settles after the first attempt: a failed write is reported once
 * and retried, and does not delay the process.
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
  say(`${path} cannot be written; retrying every second`);
  void tryAgain();
}

/** A stale note has no effect: the note is ignored if its process does not run. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The folder is read-only or deleted.
  }
}
