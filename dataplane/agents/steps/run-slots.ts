import { createSemaphore } from '#kit/concurrency/semaphore';
import { AgentError } from '../calls/agent-error.ts';

/** Slots for concurrent runs. A call that finds no free slot is refused, because there is no queue. */
export type RunSlots = {
  /** @throws AgentError too_many_runs */
  take(): () => void;
  readonly inUse: number;
};

export function createRunSlots(limit: number): RunSlots {
  const slots = createSemaphore(limit);
  return {
    take() {
      const release = slots.tryAcquire();
      if (release === undefined) throw new AgentError('too_many_runs');
      return release;
    },
    get inUse() {
      return slots.inUse;
    },
  };
}
