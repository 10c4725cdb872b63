import type { Clock } from '#kit/time/clock';
import { openRuntimeAddress, type RuntimeAddress } from './runtime-address.ts';

/** The processes that a client has called, each with its own pool and bound. */
export type AddressBook = {
  /** The least busy of the origins other than `except`; undefined when there is none. */
  pick(origins: readonly string[], except: string | undefined): RuntimeAddress | undefined;
  /** Waits for calls in flight. */
  close(): Promise<void>;
};

/** Addresses that nobody used for so long are let go when a new one comes: workloads come and go with applications. */
const forgetAfterMs = 60_000;

export function createAddressBook(maxInFlight: number, clock: Clock): AddressBook {
  const open = new Map<string, RuntimeAddress>();
  let turn = 0;

  function forgetUnused(): void {
    for (const [origin, address] of open) {
      if (address.inUse() > 0 || clock.now() - address.lastUse() < forgetAfterMs) continue;
      open.delete(origin);
      address[Symbol.asyncDispose]().then(undefined, () => undefined);
    }
  }

  function openAddress(origin: string): RuntimeAddress {
    const known = open.get(origin);
    if (known !== undefined) return known;
    forgetUnused();
    const address = openRuntimeAddress(origin, maxInFlight, () => clock.now());
    open.set(origin, address);
    return address;
  }

  return {
    pick(origins, except) {
      const others = origins.filter((origin) => origin !== except);
      turn = (turn + 1) % 1_000_000;
      let best: RuntimeAddress | undefined;
      for (let step = 0; step < others.length; step += 1) {
        const origin = others[(turn + step) % others.length];
        if (origin === undefined) continue;
        const address = openAddress(origin);
        if (best === undefined || address.inUse() < best.inUse()) best = address;
      }
      return best;
    },
    async close() {
      await Promise.all([...open.values()].map((address) => address[Symbol.asyncDispose]()));
      open.clear();
    },
  };
}
