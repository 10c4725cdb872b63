import { type FSWatcher, watch } from 'node:fs';
import type { Logger } from '#kit/log/logger';

/** Polling interval if the system cannot report changes. */
const pollMs = 2_000;

/**
 * Calls back when a file other than a dot file changes in a folder, or at intervals if the system cannot report changes.
 * @returns a function that stops it
 */
export function watchDirectory(directory: string, onEvent: () => void, logger: Logger): () => void {
  let poll: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  function fallBack(): void {
    watcher?.close();
    logger.warn('watched_folder_polled', { everyMs: pollMs });
    poll ??= setInterval(onEvent, pollMs);
  }
  try {
    watcher = watch(directory, (_event, name) => {
      if (name?.startsWith('.') !== true) onEvent();
    });
    watcher.on('error', fallBack);
  } catch {
    fallBack();
  }
  return () => {
    watcher?.close();
    clearInterval(poll);
  };
}
