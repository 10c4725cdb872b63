import { wait } from '../time/wait.ts';

/** Time without an answer after which a process counts as hung. */
export const defaultHungAfterMs = 10_000;
/** After this many attempts without an answer the process is reported as silent. */
const silentAfter = 2;
/** After this many attempts without an answer the process counts as hung. */
const hungAfter = 4;
/** A timeout that fires later than this shows that the watching process itself was held up. */
const toleratedDelayMs = 500;

type WatchOptions = {
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onChange?: (answering: boolean) => void;
  /** Milliseconds; 10,000 by default. */
  readonly hungAfterMs?: number;
};

type Attempt = 'answered' | 'silent' | 'unknown';

/**
 * Asks a health endpoint until the process hangs: four attempts in a row without an answer. Every answer counts,
 * whatever its status, so that a process that is not ready or overloaded is not taken for a hung one. Attempts in which
 * this process was held up itself, for example while the machine slept, count neither way.
 * @returns whether the process hangs; false when the signal was aborted
 */
export async function watchAnswers(url: string, options: WatchOptions): Promise<boolean> {
  const { signal, onChange, hungAfterMs = defaultHungAfterMs } = options;
  const attemptMs = hungAfterMs / hungAfter;
  let missed = 0;
  while (!signal.aborted) {
    const begun = performance.now();
    const attempt = await ask(url, attemptMs, signal);
    if (signal.aborted) return false;
    if (attempt === 'answered') {
      if (missed >= silentAfter) onChange?.(true);
      missed = 0;
    }
    if (attempt === 'silent') {
      missed += 1;
      if (missed === silentAfter) onChange?.(false);
      if (missed >= hungAfter) return true;
    }
    const pause = attempt === 'answered' ? attemptMs : attemptMs - (performance.now() - begun);
    if (pause > 0) await wait(pause, signal);
  }
  return false;
}

async function ask(url: string, timeoutMs: number, signal: AbortSignal): Promise<Attempt> {
  const begun = performance.now();
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await fetch(url, { signal: either, redirect: 'manual' });
    await answer.body?.cancel();
    return 'answered';
  } catch {
    return performance.now() - begun > timeoutMs + toleratedDelayMs ? 'unknown' : 'silent';
  }
}
