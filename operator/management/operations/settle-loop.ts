import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { OperationStore } from './ports.ts';
import { type ModelFactsReader, settleOnModel } from './settle-models.ts';

/** Debounce of binding changes, milliseconds. */
const debounceMs = 50;
/** Models of one statement: a change of every binding must not become one large statement. */
const batch = 200;
const openLimit = 500;

export type Settling = AsyncDisposable & {
  /** Has the loop look at a model soon: a client waits for an operation on it. */
  lookAt(modelId: string): void;
};

/**
 * Ends operations on bindings after the operator recorded their outcome: when a binding changes, and for all bindings at
 * a fixed interval, so that a change that no watch reported is found too.
 */
export function startSettling(options: {
  readonly caches: Pick<ManagementCaches, 'onModelChange'>;
  readonly store: Pick<OperationStore, 'openOnModels' | 'finish'>;
  readonly reader: ModelFactsReader;
  readonly logger: Logger;
  readonly sweepMs: number;
}): Settling {
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

  function schedule(): void {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = running.then(async () => {
        const ids = [...changed].slice(0, batch);
        for (const id of ids) changed.delete(id);
        await settle(ids);
        if (changed.size > 0) schedule();
      });
    }, debounceMs);
  }

  function lookAt(modelId: string): void {
    changed.add(modelId);
    schedule();
  }

  caches.onModelChange(lookAt);
  const sweep = setInterval(() => {
    running = running.then(() => settle('all'));
  }, sweepMs);

  return {
    lookAt,
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearInterval(sweep);
      clearTimeout(timer);
      await running;
    },
  };
}
