import type { ServedPolicies } from '../../operator/served/ports.ts';

/** The addresses of an installation without served policies. */
export const nothingServed: ServedPolicies = {
  entries: [],
  pins: () => new Map(),
  readPins: async () => new Map(),
  point: () => Promise.reject(new TypeError('this installation has no served policies')),
  withdraw: async () => undefined,
  onChange: () => undefined,
  changes: () => 0,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
