import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '#kit/time/clock';

/**
 * A simulated process: its awaited results arrive while the process runs, are delayed while it is suspended (SIGSTOP),
 * and never arrive after it was killed (SIGKILL).
 */
export type Life = {
  readonly name: string;
  state(): 'running' | 'frozen' | 'dead';
  freeze(): void;
  thaw(): void;
  kill(): void;
  /** Resolves while this process runs; never resolves after it was killed. */
  awake(): Promise<void>;
};

/** Virtual time: it advances when nothing else can happen, in the same way for the same seed. */
export type VirtualTime = Disposable & {
  readonly clock: Clock;
  readonly random: () => number;
  startLife(name: string): Life;
  /** Runs a function as part of a process: its timers stop with the process. */
  runAs<T>(life: Life, run: () => T): T;
  /** A delay of the simulated world, which no process can stop. */
  delay(ms: number): Promise<void>;
  /** Calls back after a delay of the simulated world, unless the returned function cancels it. */
  schedule(ms: number, run: () => void): () => void;
  /** Advances the time. */
  advance(ms: number): Promise<void>;
};

type Timer = { readonly at: number; readonly order: number; readonly run: () => void; isOver: boolean };

const realImmediate = globalThis.setImmediate;
const begin = Date.UTC(2026, 0, 1);
/** Number of steps without an advance of time after which the run counts as an endless loop. */
const maxStill = 100_000;

/** A generator of numbers between 0 and 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Waits for one turn of the event loop, in which everything runs that the previous step has made possible. */
function settled(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}

/**
 * Replaces the timers and `Math.random` of Node by virtual, seeded ones until it is disposed. The running code must not
 * wait for a socket, a file or another process.
 */
export function startVirtualTime(seed: number): VirtualTime {
  const random = seededRandom(seed);
  const owner = new AsyncLocalStorage<InternalLife>();
  const timers: Timer[] = [];
  let now = 0;
  let order = 0;

  function schedule(ms: number, run: () => void): () => void {
    const timer: Timer = { at: now + Math.max(0, ms), order: order++, run, isOver: false };
    let low = 0;
    let high = timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      // The next timer is the last entry.
      if ((timers[middle]?.at ?? 0) > timer.at) low = middle + 1;
      else high = middle;
    }
    timers.splice(low, 0, timer);
    return () => {
      timer.isOver = true;
    };
  }

  function setTimer(run: (...args: never[]) => void, ms = 0, ...args: never[]): VirtualTimer {
    const life = owner.getStore();
    // The call is bound to the process that sets the timer, so that timers which `run` sets also end with this process.
    const call = AsyncLocalStorage.bind((): void => run(...args));
    const cancel = schedule(ms, () => (life === undefined ? call() : life.whenRunning(call)));
    return new VirtualTimer(cancel);
  }

  function setRepeating(run: (...args: never[]) => void, ms = 0, ...args: never[]): VirtualTimer {
    let next: VirtualTimer | undefined;
    let isOver = false;
    const repeat = (): void => {
      run(...args);
      // Node's shortest interval is 1 ms; `run` may clear the interval.
      if (!isOver) next = setTimer(repeat, Math.max(1, ms));
    };
    next = setTimer(repeat, Math.max(1, ms));
    return new VirtualTimer(() => {
      isOver = true;
      next?.cancel();
    });
  }

  async function advance(ms: number): Promise<void> {
    const end = now + ms;
    let still = 0;
    await settled();
    while (true) {
      const next = timers.at(-1);
      if (next === undefined || next.at > end) break;
      timers.pop();
      if (next.isOver) continue;
      still = next.at > now ? 0 : still + 1;
      if (still > maxStill) throw new Error('the simulation runs without an advance of time');
      now = Math.max(now, next.at);
      next.run();
      await settled();
    }
    now = end;
  }

  const restore = replaceGlobals({ setTimer, setRepeating, random });
  return {
    clock: { now: () => now, date: () => new Date(begin + now) },
    random,
    startLife: (name) => new InternalLife(name),
    runAs: (life, run) => owner.run(life as InternalLife, run),
    delay: (ms) => new Promise((resolve) => void schedule(ms, resolve)),
    schedule,
    advance,
    [Symbol.dispose]: restore,
  };
}

class InternalLife implements Life {
  readonly name: string;
  #state: 'running' | 'frozen' | 'dead' = 'running';
  #parked: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  state(): 'running' | 'frozen' | 'dead' {
    return this.#state;
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    const parked = this.#parked;
    this.#parked = [];
    for (const run of parked) run();
  }

  kill(): void {
    this.#state = 'dead';
    this.#parked = [];
  }

  whenRunning(run: () => void): void {
    if (this.#state === 'running') run();
    else if (this.#state === 'frozen') this.#parked.push(run);
  }

  awake(): Promise<void> {
    return new Promise((resolve) => this.whenRunning(resolve));
  }
}

/** The members of Node's timer object that callers use. */
class VirtualTimer {
  readonly cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

type SetTimer = (run: (...args: never[]) => void, ms?: number, ...args: never[]) => VirtualTimer;

type Replacement = {
  readonly setTimer: SetTimer;
  readonly setRepeating: SetTimer;
  readonly random: () => number;
};

function replaceGlobals({ setTimer, setRepeating, random }: Replacement): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;
  const mathRandom = Math.random;
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.cancel();
    else clearTimeout(timer as NodeJS.Timeout);
  };
  Object.assign(globalThis, {
    setTimeout: setTimer,
    clearTimeout: clear,
    setInterval: setRepeating,
    clearInterval: clear,
    setImmediate: (run: (...args: never[]) => void, ...args: never[]) => setTimer(run, 0, ...args),
  });
  Math.random = random;
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate });
    Math.random = mathRandom;
  };
}
