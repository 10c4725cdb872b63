import { describeFailure } from '#kit/log/describe-failure';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { CommandPorts } from './execute-command.ts';
import { recoverOperations } from './recover-operations.ts';
import { type ModelFactsReader, settleOnModel } from './settle-models.ts';

/** Debounce of binding changes, milliseconds. */
const debounceMs = 50;
/** Number of models in one statement, so that a change of every binding does not become one large statement. */
const batch = 200;
const openLimit = 500;
/** Interval at which expired idempotency keys and operations are deleted, milliseconds. */
const pruneMs = 3_600_000;

export type Settling = AsyncDisposable & {
  /** Makes the loop settle a model soon, because a client waits for an operation on the model. */
  lookAt(modelId: string): void;
};

/**
 * The only loop that settles operations. It continues abandoned commands and operations on policies. It ends operations
 * on bindings after the operator recorded their outcome: when a binding changes, and for all bindings at a fixed
 * interval, so that a change that no watch reported is found too.
 * @param times intervals of recovery and of the check of all bindings; after a full batch of recovery the next one
 * starts immediately
 */
export function startSettling(
  ports: CommandPorts,
  sources: {
    readonly caches: Pick<ManagementCaches, 'onModelChange'>;
    readonly reader: ModelFactsReader;
  },
  times: { readonly recoverMs: number; readonly sweepMs: number },
): Settling {
  const { store, logger, clock } = ports;
  const changed = new Set<string>();
  let prunedAt = Number.NEGATIVE_INFINITY;
  /** The times at which the parts are due, by the monotonic clock. */
  const due = { changed: 0, recovery: 0, sweep: performance.now() + times.sweepMs };
  let stopped = false;
  let wake: () => void = () => undefined;

  async function attempt(event: 'settling_failed' | 'recovery_failed', run: () => Promise<unknown>): Promise<unknown> {
    try {
      return await run();
    } catch (error) {
      logger.warn(event, { failure: describeFailure(error) });
      return undefined;
    }
  }

  async function settle(modelIds: readonly string[] | 'all'): Promise<void> {
    for (const operation of await store.openOnModels(modelIds, openLimit)) {
      if (stopped) return;
      // A model that cannot be read must not delay the others.
      await settleOnModel(store, sources.reader, operation).catch((error: unknown) => {
        const { operationId, traceId } = operation;
        logger.warn('settling_failed', { operation: operationId, traceId, failure: describeFailure(error) });
      });
    }
  }

  async function settleChanged(): Promise<void> {
    if (changed.size === 0 || performance.now() < due.changed) return;
    const ids = [...changed].slice(0, batch);
    for (const id of ids) changed.delete(id);
    await attempt('settling_failed', () => settle(ids));
  }

  async function recover(): Promise<number> {
    if (clock.now() - prunedAt >= pruneMs) {
      await store.prune();
      prunedAt = clock.now();
    }
    // A batch can take long: bindings that changed meanwhile do not wait for it.
    return recoverOperations(ports, settleChanged);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await settleChanged();
      if (performance.now() >= due.recovery) {
        const claimed = await attempt('recovery_failed', recover);
        due.recovery = claimed === undefined || claimed === 0 ? performance.now() + times.recoverMs : 0;
      }
      if (performance.now() >= due.sweep) {
        await attempt('settling_failed', () => settle('all'));
        due.sweep = performance.now() + times.sweepMs;
      }
      if (!stopped) await pause();
    }
  }

  /** Waits until a part is due or `wake` is called. */
  function pause(): Promise<void> {
    const next = Math.min(due.recovery, due.sweep, changed.size === 0 ? Number.POSITIVE_INFINITY : due.changed);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, next - performance.now()));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function lookAt(modelId: string): void {
    if (changed.size === 0) due.changed = performance.now() + debounceMs;
    changed.add(modelId);
    wake();
  }

  sources.caches.onModelChange(lookAt);
  const running = run();
  return {
    lookAt,
    async [Symbol.asyncDispose]() {
      stopped = true;
      wake();
      await running;
    },
  };
}
