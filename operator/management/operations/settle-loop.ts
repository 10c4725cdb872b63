import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { ManagementCaches } from '../caches.ts';
import type { OperationStore } from './ports.ts';
import { type ModelFactsReader, settleOnModel } from './settle-models.ts';

/** Changes of bindings are gathered for so long before their operations are looked for, milliseconds. */
const gatherMs = 50;
/** Models that are asked about at once; a change of every binding must not become one statement. */
const batch = 200;
const openLimit = 500;

/**
 * Ends operations on bindings soon after the operator did: whenever a binding changes, and over all of them at a
 * steady pace, so that a change that no watch told is found too.
 */
export function startSettling(options: {
  readonly caches: Pick<ManagementCaches, 'onModelChange'>;
  readonly store: Pick<OperationStore, 'openOnModels' | 'finish'>;
  readonly reader: ModelFactsReader;
  readonly logger: Logger;
  readonly sweepMs: number;
}): AsyncDisposable {
  const { caches, store, reader, logger, sweepMs } = options;
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  async function settle(modelIds: readonly string[] | 'all'): Promise<void> {
    try {
      for (const operation of await store.openOnModels(modelIds, openLimit)) {
        if (stopped) return;
        await settleOnModel(store, reader, operation);
      }
    } catch (error) {
      logger.warn('settling_failed', { failure: describeFailure(error) });
    }
  }

  function wake(): void {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = running.then(async () => {
        const ids = [...changed].slice(0, batch);
        for (const id of ids) changed.delete(id);
        await settle(ids);
        if (changed.size > 0) wake();
      });
    }, gatherMs);
  }

  caches.onModelChange((modelId) => {
    changed.add(modelId);
    wake();
  });
  const sweep = setInterval(() => {
    running = running.then(() => settle('all'));
  }, sweepMs);

  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearInterval(sweep);
      clearTimeout(timer);
      await running;
    },
  };
}
