import type { ConfigMap } from '#kube/client/builtin-types';

/** The annotation that contains the complete digest; the name of the object contains only a part of the digest. */
export const digestAnnotation = 'portcullis.dev/digest';

/** The key of the bundle in its ConfigMap. */
export const bundleKey = 'bundle.json';

const labels = {
  'app.kubernetes.io/name': 'portcullis-bundle',
  'app.kubernetes.io/part-of': 'portcullis',
  'app.kubernetes.io/managed-by': 'portcullis-operator',
} as const;

/** Selects the ConfigMaps of all bundles. */
export const bundlesSelector = [
  `app.kubernetes.io/name=${labels['app.kubernetes.io/name']}`,
  `app.kubernetes.io/managed-by=${labels['app.kubernetes.io/managed-by']}`,
].join(',');

/** The name of the ConfigMap of a bundle: the same bundle is stored once. */
export function bundleMapName(digest: string): string {
  return `portcullis-bundle-${digest.slice(0, 16)}`;
}

/** The ConfigMap of a bundle. It never changes, and has no owner, because workloads share it. */
export function makeBundleMap(digest: string, bytes: Buffer): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: bundleMapName(digest), labels, annotations: { [digestAnnotation]: digest } },
    immutable: true,
    data: { [bundleKey]: bytes.toString('utf8') },
  };
}
