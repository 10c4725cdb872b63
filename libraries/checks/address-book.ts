import type { Clock } from '#kit/time/clock';
import { openRuntimeAddress, type RuntimeAddress } from './runtime-address.ts';

/** The runtime processes that a client has called, each with its own connection pool and limit. */
type AddressBook = {
  /** The origin with the fewest calls in flight, without `except`; undefined when no other origin exists. */
  pick(origins: readonly string[], except: string | undefined): RuntimeAddress | undefined;
  /** Closes all connections after the calls in flight have ended. */
  close(): Promise<void>;
};

/**
 * Addresses that were not used for this time are closed when a new address is opened, because workloads change with
 * applications.
 */
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
