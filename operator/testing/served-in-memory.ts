import { sameJson } from '#kube/apply/same-json';
import { KubeError } from '#kube/client/client';
import type { ServedPolicy } from '../environment/served-policies.ts';
import type { ServedPin, ServedPolicies } from '../served/ports.ts';

/** Records the targets of addresses without serving them. */
export function serveInMemory(entries: readonly ServedPolicy[], pins = new Map<string, ServedPin>()): ServedPolicies {
  let listener: (name: string) => void = () => undefined;
  let changes = 0;

  function change(name: string): void {
    changes += 1;
    setImmediate(() => listener(name));
  }

  return {
    entries,
    pins: () => pins,
    readPins: async () => new Map(pins),
    async point(name, pin, seen) {
      const held = pins.get(name);
      if (sameJson(held, pin)) return false;
      if (held !== undefined && !sameJson(held, seen))
        throw new KubeError('conflict', 'the address has another target');
      pins.set(name, pin);
      change(name);
      return true;
    },
    async withdraw(name) {
      if (pins.delete(name)) change(name);
    },
    onChange(next) {
      listener = next;
    },
    changes: () => changes,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
