import { type FSWatcher, watch } from 'node:fs';
import type { Logger } from '#kit/log/logger';

/** How often a folder is looked at where the system cannot say that it changed. */
const pollMs = 2_000;

/**
 * Calls back when something but a dot file changes in a folder; where the system cannot tell, at intervals.
 * Returns how to stop that.
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
