import type { OpeningState } from '#sql/open-repeatedly';
import type { RouteTable } from './route-table.ts';

/** The longest delay of the readiness by a source that does not answer, milliseconds. */
const longestWaitMs = 30_000;

/** The routes and stores that a replica loads before it serves. */
type LoadedFirst = {
  /** Whether all routes were read. */
  readonly isComplete: boolean;
  /** Whether a route has not been probed yet, or a store has not answered yet. */
  hasPending(): boolean;
  /** Whether tables of the database belong to another release. */
  isRefused(): boolean;
};

type LoadedTable = Pick<RouteTable, 'isComplete' | 'hasPending'>;
type LoadedAgents = {
  readonly table: LoadedTable;
  /** The states of the stores that calls of agents need. */
  stores(): readonly OpeningState[];
};

/** The routes of models, and the routes and stores of agents if the replica serves them. */
export function loadedFirst(models: LoadedTable, agents: LoadedAgents | undefined): LoadedFirst {
  const has = (state: OpeningState): boolean => agents?.stores().includes(state) === true;
  return {
    get isComplete() {
      return models.isComplete && (agents === undefined || agents.table.isComplete);
    },
    hasPending: () => models.hasPending() || agents?.table.hasPending() === true || has('unknown'),
    isRefused: () => has('refused'),
  };
}

/** Whether a gateway replica is ready for traffic. */
type Readiness = Disposable & {
  /** True once every route was loaded, and probed or rejected, at the latest 30 s after loading; never with refused tables. */
  mayServe(): boolean;
  /** Call this method after each change of a source. */
  look(): void;
  /** Makes the replica unready until its process ends. */
  withdraw(): void;
};

/**
 * A replica that became ready stays ready until `withdraw`: only a new replica waits for tables of its own release, so
 * that a rollout stops while the former replicas serve (docs/decisions/0223). `onChange` is called at both changes.
 */
export function watchReadiness(loaded: LoadedFirst, onChange: () => void, waitMs = longestWaitMs): Readiness {
  let state: 'waiting' | 'serving' | 'withdrawn' = 'waiting';
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function move(next: 'serving' | 'withdrawn'): void {
    clearTimeout(timer);
    if (state === next || state === 'withdrawn') return;
    state = next;
    onChange();
  }

  function look(): void {
    if (state !== 'waiting' || !loaded.isComplete || loaded.isRefused()) return;
    if (isOver || !loaded.hasPending()) move('serving');
    else timer ??= setTimeout(endWait, waitMs);
  }

  function endWait(): void {
    isOver = true;
    look();
  }

  return {
    mayServe: () => state === 'serving',
    look,
    withdraw: () => move('withdrawn'),
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}
