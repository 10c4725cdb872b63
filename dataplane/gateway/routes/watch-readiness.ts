import type { RouteTable } from './route-table.ts';

/** How long routes that cannot be proved hold back readiness (DESIGN section 6.6). */
const longestWaitMs = 30_000;

/** Whether a replica may take traffic. */
export type Readiness = Disposable & {
  /** True from the moment every route was seen and each was proved or rejected, or 30 s have passed since. */
  mayServe(): boolean;
  /** Looks again after a change of the table. */
  look(): void;
  /** Ends readiness for good. */
  withdraw(): void;
};

/** Once reached, readiness depends on nothing but `withdraw`. `onChange` is told when it is reached or withdrawn. */
export function watchReadiness(table: RouteTable, onChange: () => void, waitMs = longestWaitMs): Readiness {
  let state: 'waiting' | 'serving' | 'withdrawn' = 'waiting';
  let timer: NodeJS.Timeout | undefined;

  function move(next: 'serving' | 'withdrawn'): void {
    clearTimeout(timer);
    if (state === next || state === 'withdrawn') return;
    state = next;
    onChange();
  }

  return {
    mayServe: () => state === 'serving',
    look() {
      if (state !== 'waiting' || !table.isComplete) return;
      if (!table.hasPending()) move('serving');
      else timer ??= setTimeout(() => move('serving'), waitMs);
    },
    withdraw: () => move('withdrawn'),
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}
