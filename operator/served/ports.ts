import { z } from 'zod';
import type { ServedPolicy } from '../environment/served-policies.ts';

/** What the address of a served policy leads to: one application, and the workloads of those before. */
export const servedPinSchema = z.strictObject({
  workload: z.string().min(1),
  /** Workloads that the address led to before, the latest first; each is kept for as long as a stream may last. */
  previous: z.array(z.string().min(1)),
  policyId: z.string().min(1),
  policyRevision: z.string().min(1),
  contentProfile: z.string().min(1),
  /** SHA-256 of the bundle. */
  digest: z.string().min(1),
  /** The token of the entry; empty where it has none. */
  token: z.string(),
});
export type ServedPin = z.infer<typeof servedPinSchema>;

/**
 * Stable addresses for services that check text themselves, one for each policy of the environment's list. What an
 * address leads to is stored with it, so that the next operator continues with it. Disposing stops the watches; the
 * addresses stay.
 */
export type ServedPolicies = AsyncDisposable & {
  /** What is listed; fixed for the life of the process. */
  readonly entries: readonly ServedPolicy[];
  /** By name of entry what its address leads to, as last seen; also of entries that are listed no more. */
  pins(): ReadonlyMap<string, ServedPin>;
  /** The same, read anew. */
  readPins(): Promise<ReadonlyMap<string, ServedPin>>;
  /**
   * Has the address lead there and publishes it: address, policyId, policyRevision, bundleDigest, contentProfile.
   * Where it does, nothing is written.
   * @param seen what the address led to when that was decided
   * @returns whether it led elsewhere
   * @throws KubeError, with code `conflict` where the address leads neither there nor to what was seen; BrokenError
   * where the name belongs to something else
   */
  point(name: string, pin: ServedPin, seen: ServedPin | undefined): Promise<boolean>;
  /** Takes the address away; an unknown name is fine. */
  withdraw(name: string): Promise<void>;
  /** Has the listener called with the name of an entry whose address changed, or was changed. One listener at a time. */
  onChange(listener: (name: string) => void): void;
  /** How many changes were seen so far; the same number means that nothing has changed. */
  changes(): number;
};

/** Where nothing is served directly. */
export const nothingServed: ServedPolicies = {
  entries: [],
  pins: () => new Map(),
  readPins: async () => new Map(),
  point: () => Promise.reject(new TypeError('nothing is served directly here')),
  withdraw: async () => undefined,
  onChange: () => undefined,
  changes: () => 0,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
