import { z } from 'zod';
import { servedLimitsSchema } from '#contracts/served-target';
import type { ServedPolicy } from '../environment/served-policies.ts';

/** The target of the address of a served policy: one application, and the workloads of the previous applications. */
export const servedPinSchema = z.strictObject({
  workload: z.string().min(1),
  /**
   * Workloads to which the address resolved before, the latest first; each is kept for as long as a stream may last.
   */
  previous: z.array(z.string().min(1)),
  policyId: z.string().min(1),
  policyRevision: z.string().min(1),
  contentProfile: z.string().min(1),
  /** SHA-256 of the bundle. */
  digest: z.string().min(1),
  /** The token of the entry; empty if the entry has no token. */
  token: z.string(),
  /** Absent in a target that an earlier version wrote; the target is then written again. */
  limits: servedLimitsSchema.optional(),
});
export type ServedPin = z.infer<typeof servedPinSchema>;

/**
 * Targets for services that check text themselves, one for each policy of the environment's list: a stable address in a
 * cluster, a file with addresses on one machine. The target of an address is stored with the address, so that the next
 * operator continues with it. Disposing stops the watches; the addresses are kept.
 */
export type ServedPolicies = AsyncDisposable & {
  /** The listed policies; fixed for the life of the process. */
  readonly entries: readonly ServedPolicy[];
  /**
   * For each entry, by its name, the target of its address as last read, including entries that are no longer listed.
   */
  pins(): ReadonlyMap<string, ServedPin>;
  /** The target of the address of an entry, from a live read. */
  readPins(): Promise<ReadonlyMap<string, ServedPin>>;
  /**
   * Moves the address to this target and publishes it: address, policyId, policyRevision, bundleDigest, contentProfile.
   * If the address already has that target, nothing is written. @param seen the target of the address on which the
   * decision was based @returns whether the target was changed @throws KubeError, with code `conflict` if the current
   * target is neither the new nor the seen target; BrokenError if the name belongs to another owner
   */
  point(name: string, pin: ServedPin, seen: ServedPin | undefined): Promise<boolean>;
  /** Deletes the address; an unknown name is ignored. */
  withdraw(name: string): Promise<void>;
  /**
   * Sets the listener, which is called with the name of an entry whose address has changed. There is one listener at a
   * time.
   */
  onChange(listener: (name: string) => void): void;
  /** A counter of observed changes: if two reads return the same number, nothing has changed between them. */
  changes(): number;
};
