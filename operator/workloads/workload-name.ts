import type { BundleProvider } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';

/** Content that identifies a workload, with the providers. */
type WorkloadContent = {
  readonly digest: string;
  readonly build: string;
  /** Digest of the pod template; undefined for local processes. */
  readonly template: string | undefined;
};

/**
 * The name of a workload, derived from its content so that equal applications share their processes
 * (docs/design/workloads.md). The object holds the full digest, which is compared.
 */
export function workloadName(content: WorkloadContent, providers: readonly BundleProvider[]): string {
  const { digest, build, template } = content;
  const made = template === undefined ? {} : { template };
  return `g-${digestOf({ digest, build, providers, ...made }).slice(0, 20)}`;
}
