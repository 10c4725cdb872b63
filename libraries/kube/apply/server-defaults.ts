import { isDeepStrictEqual } from 'node:util';

/** Any value: either the server assigns it, or a kubectl command writes it that changes nothing else. */
const anyValue = Symbol('any value');

const podTemplate = 'Deployment/spec/template';
const container = `${podTemplate}/spec/containers/*`;

/**
 * Members that an API server adds to the objects that we write, with the value that the server sets. `*` means any
 * index of a list. A member that is missing here is removed, and the server adds it again: an unknown default costs a
 * request that changes nothing, but never a rollout.
 */
const serverDefaults: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['Deployment/spec/progressDeadlineSeconds', 600],
  ['Deployment/spec/revisionHistoryLimit', 10],
  ['Deployment/spec/strategy', { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }],
  // `kubectl rollout restart` is a way to replace pods; removing its annotation would replace them again.
  [`${podTemplate}/metadata/annotations/kubectl.kubernetes.io~1restartedAt`, anyValue],
  [`${podTemplate}/spec/dnsPolicy`, 'ClusterFirst'],
  [`${podTemplate}/spec/restartPolicy`, 'Always'],
  [`${podTemplate}/spec/schedulerName`, 'default-scheduler'],
  [`${podTemplate}/spec/securityContext`, {}],
  [`${podTemplate}/spec/terminationGracePeriodSeconds`, 30],
  [`${container}/imagePullPolicy`, anyValue],
  [`${container}/ports/*/protocol`, 'TCP'],
  [`${container}/resources`, {}],
  [`${container}/securityContext/procMount`, 'Default'],
  [`${container}/terminationMessagePath`, '/dev/termination-log'],
  [`${container}/terminationMessagePolicy`, 'File'],
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe): readonly [string, unknown][] => [
    [`${container}/${probe}/failureThreshold`, 3],
    [`${container}/${probe}/httpGet/scheme`, 'HTTP'],
    [`${container}/${probe}/periodSeconds`, 10],
    [`${container}/${probe}/successThreshold`, 1],
    [`${container}/${probe}/timeoutSeconds`, 1],
  ]),
  [`${podTemplate}/spec/volumes/*/configMap/defaultMode`, 0o644],
  [`${podTemplate}/spec/volumes/*/secret/defaultMode`, 0o644],
  ['NetworkPolicy/spec/egress/*/ports/*/protocol', 'TCP'],
  ['NetworkPolicy/spec/ingress/*/ports/*/protocol', 'TCP'],
  ['Service/spec/clusterIP', anyValue],
  ['Service/spec/clusterIPs', anyValue],
  ['Service/spec/internalTrafficPolicy', 'Cluster'],
  ['Service/spec/ipFamilies', anyValue],
  ['Service/spec/ipFamilyPolicy', anyValue],
  ['Service/spec/ports/*/protocol', 'TCP'],
  ['Service/spec/sessionAffinity', 'None'],
  ['Service/spec/type', 'ClusterIP'],
]);

/** Whether the API server itself adds this member with this value; `path` has the form of the keys of the table. */
export function isServerDefault(path: string, value: unknown): boolean {
  if (!serverDefaults.has(path)) return false;
  const expected = serverDefaults.get(path);
  return expected === anyValue || isDeepStrictEqual(expected, value);
}
