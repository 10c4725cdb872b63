import type { TestImage } from './chart-values.ts';

/** A cluster to install on, and two releases of the images that its nodes have or can pull. */
export type TestCluster = AsyncDisposable & {
  readonly kubeconfigFile: string;
  /** The namespace that was created for this run with restricted pods; the suite writes to no other namespace. */
  readonly namespace: string;
  /** The installed images and the images of the upgrade; images that were built locally have equal content. */
  readonly images: readonly [TestImage, TestImage];
  /** Helm arguments that select the images, in the same order, with other arguments for the cluster. */
  readonly values: readonly [readonly string[], readonly string[]];
  /** Audit log with one JSON object for each request to the API server; undefined if it is not available. */
  readonly auditLogFile: string | undefined;
  /** Whether the test suite started the cluster, so that it must also stop it. */
  readonly isOurs: boolean;
};
