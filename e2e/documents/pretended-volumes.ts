/** A default class and volumes for the claims of the chart, which a provisioner would make. */
export const pretendedVolumes: readonly object[] = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'pretended', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner',
    allowVolumeExpansion: true,
  },
  ...Array.from({ length: 8 }, (_none, at) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pretended-${at + 1}` },
    spec: {
      storageClassName: 'pretended',
      capacity: { storage: '100Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: '/nowhere' },
    },
  })),
];
