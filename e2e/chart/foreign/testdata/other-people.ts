/** Foreign objects on the cluster: a namespace, a workload, a secret, a custom kind and one object of it. */
export function otherPeople(): readonly object[] {
  const namespace = 'shop';
  const labels = { app: 'till' };
  const container = { name: 'till', image: 'images.example.com/till:1', imagePullPolicy: 'Never' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { team: 'shop' } } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'till-key', namespace }, stringData: { key: 'theirs' } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'till', namespace },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'guardrailpolicies.shop.example.com' },
      spec: {
        group: 'shop.example.com',
        scope: 'Namespaced',
        names: {
          kind: 'GuardrailPolicy',
          plural: 'guardrailpolicies',
          singular: 'guardrailpolicy',
          listKind: 'GuardrailPolicyList',
        },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  ];
}

/** A foreign object whose kind has the name of a Portcullis kind. */
export function theirPolicy(): object {
  const metadata = { name: 'counter', namespace: 'shop', finalizers: ['shop.example.com/counted'] };
  return { apiVersion: 'shop.example.com/v1', kind: 'GuardrailPolicy', metadata };
}

/** A default storage class without a provisioner that runs. */
export function storageClass(): object {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations },
    provisioner: 'example.com/nobody',
  };
}
