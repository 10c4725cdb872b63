/** A pending deadline. */
type Due = { readonly dueAt: number; readonly onDue: () => void };

type Deadlines = {
  /** Calls `onDue` after `ms` milliseconds, unless `cancel` is called before that. */
  start(ms: number, onDue: () => void): Due;
  cancel(due: Due): void;
};

/**
 * Many deadlines with one timer, for calls that nearly always end long before their deadline: a deadline costs an entry
 * in a set instead of a timer. The callback of a deadline is never called early, never before the callback of an
 * earlier deadline, and not later than that of a timer.
 */
export function createDeadlines(): Deadlines {
  const open = new Set<Due>();
  let timer: NodeJS.Timeout | undefined;
  let firesAt = Number.POSITIVE_INFINITY;

  function arm(dueAt: number): void {
    clearTimeout(timer);
    firesAt = dueAt;
    timer = setTimeout(fire, Math.max(0, Math.ceil(dueAt - performance.now())));
    timer.unref();
  }

  function fire(): void {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    firesAt = next;
    const over: Due[] = [];
    for (const due of open) {
      if (due.dueAt > now) next = Math.min(next, due.dueAt);
      else over.push(due);
    }
    // After the event loop was blocked several deadlines are due, and the callback of one may cancel another.
    for (const due of over.toSorted((one, other) => one.dueAt - other.dueAt)) {
      if (open.delete(due)) due.onDue();
    }
    if (next < firesAt) arm(next);
  }

  return {
    start(ms, onDue) {
      const due = { dueAt: performance.now() + ms, onDue };
      open.add(due);
      if (due.dueAt < firesAt) arm(due.dueAt);
      return due;
    },
    cancel: (due) => void open.delete(due),
  };
}
