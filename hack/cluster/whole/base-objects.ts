import { dnsServiceAddress } from './addresses.ts';
import { dnsUser } from './coredns.ts';
import { provisioner, volumesUser } from './local-volumes.ts';

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

const read = ['get', 'list', 'watch'];
const claimsAndVolumes: readonly Rule[] = [
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: [...read, 'create', 'delete', 'patch', 'update'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: [...read, 'update', 'patch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: read },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  { apiGroups: [''], resources: ['nodes'], verbs: read },
];
const names: readonly Rule[] = [
  { apiGroups: [''], resources: ['services', 'pods', 'namespaces', 'endpoints'], verbs: read },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
];

const rbac = 'rbac.authorization.k8s.io';

function roleFor(user: string, rules: readonly Rule[]): readonly object[] {
  const metadata = { name: user };
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    },
  ];
}

/** The Service for DNS, with the only DNS server as its endpoint. */
function dnsService(nodeAddress: string): readonly object[] {
  const ports = ['UDP', 'TCP'].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, port: 53, protocol }));
  const metadata = { name: 'kube-dns', namespace: 'kube-system' };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: dnsServiceAddress, ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
      addressType: 'IPv4',
      ports,
      endpoints: [{ addresses: [nodeAddress], conditions: { ready: true } }],
    },
  ];
}

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
};

/** The objects of a new cluster, as one list. */
export function baseObjects(nodeAddress: string): object {
  const items = [
    ...roleFor(dnsUser, names),
    ...roleFor(volumesUser, claimsAndVolumes),
    ...dnsService(nodeAddress),
    storageClass,
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}
