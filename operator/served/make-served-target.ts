import type { ServedTarget } from '#contracts/served-target';
import type { ServedPin } from './ports.ts';

/** The file for services; undefined while the limits of the target or its addresses are not known. */
export function makeServedTarget(pin: ServedPin, addresses: readonly string[]): ServedTarget | undefined {
  const { policyId, policyRevision, digest: bundleDigest, contentProfile, limits } = pin;
  if (limits === undefined || addresses.length === 0) return undefined;
  return { addresses: [...addresses], policyId, policyRevision, bundleDigest, contentProfile, ...limits };
}
