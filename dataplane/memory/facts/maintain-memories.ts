import { startWorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { type EmbedPorts, embedMissing } from './embed-missing.ts';
import { removeEndedEvents, removeExpired, removeExpiredSessions } from './remove-ended.ts';

/** The parts of maintenance; no part waits for another. */
export const maintenanceParts = [
  'undelivered_events',
  'expired_sessions',
  'ended_events',
  'expired_memories',
  'missing_vectors',
  'packing',
] as const;
export type MaintenancePart = (typeof maintenanceParts)[number];

type MaintenanceOptions = {
  readonly logger: Logger;
  readonly everyMs: number;
  /** Ends events that no worker may try again; returns their number. */
  readonly failUndelivered: () => Promise<number>;
  /** Packs the memories of a waiting person; returns whether a person was waiting. */
  readonly packOne: () => Promise<boolean>;
  readonly onFailed: (part: MaintenancePart, error: unknown) => void;
};

/**
 * Removes expired data, adds missing vectors and packs segments, repeatedly until it is disposed. Each part works in
 * batches and continues immediately after a full batch; a part that fails does not affect the others
 * (docs/design/memory.md, "Maintenance").
 */
export function maintainMemories(ports: EmbedPorts, options: MaintenanceOptions): AsyncDisposable {
  const { database } = ports;
  /** Each step returns whether more work can be done immediately. */
  const steps: Readonly<Record<MaintenancePart, (signal: AbortSignal) => Promise<boolean>>> = {
    undelivered_events: async () => (await options.failUndelivered()) < 0,
    expired_sessions: () => removeExpiredSessions(database),
    ended_events: () => removeEndedEvents(database),
    expired_memories: async (signal) => {
      await removeExpired(ports, { signal, onFailed: (error) => report('expired_memories', error) });
      return false;
    },
    missing_vectors: (signal) => embedMissing(ports, signal),
    packing: options.packOne,
  };
  const loops = new AsyncDisposableStack();
  for (const part of maintenanceParts)
    loops.use(startWorkLoop((signal) => run(part, signal), { pollMs: options.everyMs }));
  return loops;

  async function run(part: MaintenancePart, signal: AbortSignal): Promise<boolean> {
    try {
      return await steps[part](signal);
    } catch (error) {
      if (!signal.aborted) report(part, error);
      return false;
    }
  }

  function report(part: MaintenancePart, error: unknown): void {
    options.onFailed(part, error);
    options.logger.warn('memory_maintenance_failed', { part, failure: describeFailure(error) });
  }
}
