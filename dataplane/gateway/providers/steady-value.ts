import { createBackoff } from '#kit/time/backoff';
import type { Clock } from '#kit/time/clock';

/** A value that follows an observed value, at most one change per pause. */
type SteadyValue<T> = Disposable & {
  readonly value: T;
  observe(next: T): void;
};

/**
 * Shows the first change immediately. After each change the value stays for a pause that grows with the number of
 * recent changes, so that a value that alternates is shown rarely. `onChange` is called after each change.
 */
export function createSteadyValue<T>(
  first: T,
  options: { readonly onChange: (value: T) => void; readonly clock: Clock; readonly pauses: PauseRange },
): SteadyValue<T> {
  const { onChange, clock, pauses } = options;
  const backoff = createBackoff({ ...pauses, resetAfterMs: 2 * pauses.maxMs, now: clock.now });
  let value = first;
  let observed = first;
  let mayChangeAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function follow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (observed === value) return;
    const restMs = mayChangeAt - clock.now();
    if (restMs > 0) {
      timer = setTimeout(follow, restMs);
      return;
    }
    value = observed;
    mayChangeAt = clock.now() + backoff.next();
    onChange(value);
  }

  return {
    get value() {
      return value;
    },
    observe(next) {
      if (next === observed) return;
      observed = next;
      follow();
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}

/** The shortest and the longest pause, milliseconds. */
export type PauseRange = { readonly firstMs: number; readonly maxMs: number };
