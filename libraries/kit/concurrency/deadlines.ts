/** Something that must be over after a while. */
export type Due = { readonly dueAt: number; readonly onDue: () => void };

export type Deadlines = {
  /** Calls `onDue` after `ms` milliseconds unless `cancel` comes first. */
  start(ms: number, onDue: () => void): Due;
  cancel(due: Due): void;
};

/**
 * Many deadlines under one timer, for waits of which nearly all end long before they are due: starting and cancelling
 * one costs an entry in a set instead of a timer. A deadline never comes early, never before one that was due earlier,
 * and late by no more than a timer does.
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
    // A process that was held up finds several that are due; one may cancel another.
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
