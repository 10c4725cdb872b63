import type { Kind } from '#resources/kinds';

function builtin(group: string, version: string, kind: string, plural: string): Kind {
  return { kind, plural, shortNames: [], internal: true, group, version };
}

/** The built-in kinds of Kubernetes that Portcullis reads or writes. The standalone operator serves none of them. */
export const builtinKinds = {
  configMap: builtin('', 'v1', 'ConfigMap', 'configmaps'),
  service: builtin('', 'v1', 'Service', 'services'),
  pod: builtin('', 'v1', 'Pod', 'pods'),
  deployment: builtin('apps', 'v1', 'Deployment', 'deployments'),
  statefulSet: builtin('apps', 'v1', 'StatefulSet', 'statefulsets'),
  persistentVolumeClaim: builtin('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  podDisruptionBudget: builtin('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  endpointSlice: builtin('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices'),
  networkPolicy: builtin('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
  lease: builtin('coordination.k8s.io', 'v1', 'Lease', 'leases'),
  /** Metadata of ConfigMaps only, for watches. */
  configMapMetadata: { ...builtin('', 'v1', 'ConfigMap', 'configmaps'), metadataOnly: true },
  /** Events as Kubernetes controllers write them. */
  coreEvent: builtin('', 'v1', 'Event', 'events'),
  event: builtin('events.k8s.io', 'v1', 'Event', 'events'),
} as const satisfies Record<string, Kind>;
