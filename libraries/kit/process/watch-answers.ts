import { wait } from '../time/wait.ts';

/** After this time without an answer a process counts as hung. */
export const defaultHungAfterMs = 10_000;
/** After this number of attempts without an answer the process is reported as silent. */
const silentAfter = 2;
/** After this number of attempts without an answer the process counts as hung. */
const hungAfter = 4;
/** A timeout that fires later than this shows that the watching process itself was held up. */
const toleratedDelayMs = 500;

type WatchOptions = {
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onChange?: (answering: boolean) => void;
  /** Time without an answer after which the process counts as hung, milliseconds; 10,000 by default. */
  readonly hungAfterMs?: number;
};

type Attempt = 'answered' | 'silent' | 'unknown';

/**
 * One question to a process: resolves when the process has answered, and rejects when it has not answered before the
 * signal is aborted.
 */
type Question = (signal: AbortSignal) => Promise<void>;

/**
 * Asks a process until it hangs: four attempts in a row without an answer. Every answer counts, even an answer of a
 * health endpoint with an error status, so that a process that is not ready or overloaded does not count as hung.
 * Attempts during which this process itself was stopped, for example while the machine slept, are ignored.
 * @param asked the URL of a health endpoint, or another question
 * @returns whether the process hangs; false when the signal was aborted
 */
export async function watchAnswers(asked: string | Question, options: WatchOptions): Promise<boolean> {
  const question = typeof asked === 'string' ? questionOf(asked) : asked;
  const { signal, onChange, hungAfterMs = defaultHungAfterMs } = options;
  const attemptMs = hungAfterMs / hungAfter;
  let missed = 0;
  while (!signal.aborted) {
    const begun = performance.now();
    const attempt = await ask(question, attemptMs, signal);
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

function questionOf(url: string): Question {
  return async (signal) => {
    const answer = await fetch(url, { signal, redirect: 'manual' });
    await answer.body?.cancel();
  };
}

async function ask(question: Question, timeoutMs: number, signal: AbortSignal): Promise<Attempt> {
  const begun = performance.now();
  try {
    await question(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    return 'answered';
  } catch {
    return performance.now() - begun > timeoutMs + toleratedDelayMs ? 'unknown' : 'silent';
  }
}
