import type { BundleProvider } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import type { WorkloadIdentity } from './ports.ts';

/**
 * The name of the workload of a bundle, a build and the providers that it reaches: found by content, so that equal
 * applications share their processes (DESIGN section 6.3). The object holds the full digest, which is compared.
 */
export function workloadName(identity: WorkloadIdentity, providers: readonly BundleProvider[]): string {
  const { digest, build } = identity;
  return `g-${digestOf({ digest, build, providers }).slice(0, 20)}`;
}
