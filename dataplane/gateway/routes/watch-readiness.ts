import type { RouteTable } from './route-table.ts';

/** How long routes without a successful probe delay the readiness of the gateway. */
const longestWaitMs = 30_000;

/** Whether a gateway replica is ready for traffic. */
type Readiness = Disposable & {
  /** True once every route was loaded, and probed or rejected; at the latest 30 s after loading. */
  mayServe(): boolean;
  /** Call this method after each change of the route table. */
  look(): void;
  /** Makes the replica unready until its process ends. */
  withdraw(): void;
};

/** A replica that became ready stays ready until `withdraw`. `onChange` is called at both changes. */
export function watchReadiness(
  table: Pick<RouteTable, 'isComplete' | 'hasPending'>,
  onChange: () => void,
  waitMs = longestWaitMs,
): Readiness {
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
