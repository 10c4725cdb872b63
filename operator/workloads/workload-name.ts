import type { BundleProvider } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';

/** What makes two workloads the same one. */
export type WorkloadContent = {
  readonly digest: string;
  readonly build: string;
  /** Digest of what pods are made of, where there are pods: another template is another workload. */
  readonly template: string | undefined;
};

/**
 * The name of the workload of a bundle, a build and the providers that it reaches: found by content, so that equal
 * applications share their processes (docs/design/workloads.md). The object holds the full digest, which is compared.
 */
export function workloadName(content: WorkloadContent, providers: readonly BundleProvider[]): string {
  const { digest, build, template } = content;
  const made = template === undefined ? {} : { template };
  return `g-${digestOf({ digest, build, providers, ...made }).slice(0, 20)}`;
}
