import type { ConfigMap, Service } from '#kube/client/builtin-types';
import { podLabels } from '../../../../workloads/resources/workload-labels.ts';
import { makeServedTarget } from '../../../make-served-target.ts';
import type { ServedPin } from '../../../ports.ts';

/** Label with the name of the entry. */
export const servedLabel = 'portcullis.dev/served';
/** Annotation of the Service with the pinned application, as JSON. */
export const pinAnnotation = 'portcullis.dev/served-pin';

const common = {
  'app.kubernetes.io/name': 'portcullis-served',
  'app.kubernetes.io/part-of': 'portcullis',
  'app.kubernetes.io/managed-by': 'portcullis-operator',
} as const;

/** Selects the Services and ConfigMaps of all entries. */
export const servedSelector = [
  `app.kubernetes.io/name=${common['app.kubernetes.io/name']}`,
  `app.kubernetes.io/managed-by=${common['app.kubernetes.io/managed-by']}`,
].join(',');

/** The name of both objects of an entry. */
export function servedName(entry: string): string {
  return `portcullis-served-${entry}`;
}

function labelsOf(entry: string): Readonly<Record<string, string>> {
  return { ...common, [servedLabel]: entry };
}

/** The Service of an entry: its address is stable, its selector follows the application. */
export function makeServedService(entry: string, pin: ServedPin, port: number): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: servedName(entry),
      labels: labelsOf(entry),
      annotations: { [pinAnnotation]: JSON.stringify(pin) },
    },
    spec: {
      type: 'ClusterIP',
      selector: podLabels(pin.workload),
      ports: [{ name: 'http', port, targetPort: 'http', protocol: 'TCP' }],
    },
  };
}

/**
 * Values for a service that calls checks directly, and all of them as one file, `target.json`. `address` is stable.
 * `workloadAddress` belongs to this application and keeps serving for a while after the next application, so that a
 * client with these values is not refused during a cutover.
 */
export function makeServedConfigMap(
  entry: string,
  pin: ServedPin,
  place: { namespace: string; port: number },
): ConfigMap {
  const { workload, policyId, policyRevision, digest, contentProfile } = pin;
  const addressOf = (service: string): string => `http://${service}.${place.namespace}.svc:${place.port}`;
  const target = makeServedTarget(pin, [addressOf(workload)]);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: servedName(entry), labels: labelsOf(entry) },
    data: {
      address: addressOf(servedName(entry)),
      workloadAddress: addressOf(workload),
      policyId,
      policyRevision,
      bundleDigest: digest,
      contentProfile,
      ...(target === undefined ? {} : { 'target.json': JSON.stringify(target) }),
    },
  };
}
