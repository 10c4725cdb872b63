import type { RouteTable } from './route-table.ts';

/** How long routes without a successful probe delay readiness. */
const longestWaitMs = 30_000;

/** Whether a replica may take traffic. */
type Readiness = Disposable & {
  /** True once every route was loaded and each was probed successfully or rejected, at the latest 30 s after loading. */
  mayServe(): boolean;
  /** Call it after a change of the table. */
  look(): void;
  /** Ends readiness until the process ends. */
  withdraw(): void;
};

/** Once reached, only `withdraw` ends readiness. `onChange` is called when it is reached and when it is withdrawn. */
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
