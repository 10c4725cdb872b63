import { bundleKey, bundleMapName, digestAnnotation } from '../../../../bundles/resources/bundle-config-map.ts';
import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import { heapMebibytes } from '../../../pods/memory-size.ts';
import type { WorkloadIdentity } from '../../../ports.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';

/** User of the runtime in its image, without rights on the node. */
const imageUser = 65_532;
const portName = 'http';
/** The kubelet mounts it as a writable file, also with a read-only root file system. */
const terminationMessage = '/dev/termination-log';
const folder = '/etc/portcullis';
const authoritiesKey = 'ca.crt';
/** Seconds for compiling a bundle before the kubelet restarts the process. */
const startSeconds = 120;

/** The pod of a runtime: restricted by the Pod Security Standards, without access to the API server. */
export function makePodTemplate(identity: WorkloadIdentity, template: WorkloadTemplate) {
  const { name, digest, build } = identity;
  return {
    metadata: {
      labels: workloadLabels(name, template.labels),
      annotations: { ...template.annotations, 'portcullis.dev/build': build, [digestAnnotation]: digest },
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        ...makeUser(template.runAsUser ?? imageUser),
        seccompProfile: { type: 'RuntimeDefault' },
      },
      terminationGracePeriodSeconds: template.terminationGraceSeconds,
      containers: [makeContainer(template)],
      volumes: makeVolumes(digest, template),
      ...makePlacement(name, template),
    },
  };
}

/** Empty if the cluster assigns users and refuses others (OpenShift). */
function makeUser(user: number | '') {
  return user === '' ? {} : { runAsUser: user, runAsGroup: user, fsGroup: user };
}

function makeContainer(template: WorkloadTemplate) {
  const { image, imagePullPolicy, command, resources, port, preStopSeconds } = template;
  return {
    name: 'runtime',
    image,
    imagePullPolicy,
    command,
    env: makeEnvironment(template),
    ports: [{ name: portName, containerPort: port, protocol: 'TCP' }],
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
    },
    startupProbe: { ...probe(1, 5), failureThreshold: startSeconds },
    readinessProbe: { ...probe(2, 2), failureThreshold: 2 },
    livenessProbe: { ...probe(10, 5), failureThreshold: 3 },
    // Serves clients that still use the address until proxies and gateways have removed it.
    ...(preStopSeconds === 0 ? {} : { lifecycle: { preStop: { sleep: { seconds: preStopSeconds } } } }),
    terminationMessagePath: terminationMessage,
    terminationMessagePolicy: 'File',
    volumeMounts: [
      { name: 'bundle', mountPath: `${folder}/bundle`, readOnly: true },
      { name: 'token', mountPath: `${folder}/token`, readOnly: true },
      ...(template.providerSecret === undefined
        ? []
        : [{ name: 'providers', mountPath: `${folder}/providers`, readOnly: true }]),
      ...(template.authoritiesConfigMap === undefined
        ? []
        : [{ name: 'authorities', mountPath: `${folder}/authorities`, readOnly: true }]),
    ],
  };
}

function makeEnvironment(template: WorkloadTemplate) {
  const memory = template.resources.limits?.['memory'];
  const heap = memory === undefined ? undefined : heapMebibytes(memory);
  return [
    { name: 'PORTCULLIS_LISTEN', value: `0.0.0.0:${template.port}` },
    { name: 'PORTCULLIS_BUNDLE_FILE', value: `${folder}/bundle/${bundleKey}` },
    { name: 'PORTCULLIS_TOKEN_FILE', value: `${folder}/token/token` },
    ...(template.providerSecret === undefined
      ? []
      : [{ name: 'PORTCULLIS_SECRETS_DIR', value: `${folder}/providers` }]),
    ...(template.authoritiesConfigMap === undefined
      ? []
      : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${folder}/authorities/${authoritiesKey}` }]),
    { name: 'PORTCULLIS_TERMINATION_MESSAGE_FILE', value: terminationMessage },
    ...(heap === undefined ? [] : [{ name: 'NODE_OPTIONS', value: `--max-old-space-size=${heap}` }]),
  ];
}

/** /readyz answers 200 once the bundle is loaded, so that it serves all three probes. */
function probe(periodSeconds: number, timeoutSeconds: number) {
  return { httpGet: { path: '/readyz', port: portName, scheme: 'HTTP' }, periodSeconds, timeoutSeconds };
}

function makeVolumes(digest: string, { tokenSecret, providerSecret, authoritiesConfigMap }: WorkloadTemplate) {
  return [
    { name: 'bundle', configMap: { name: bundleMapName(digest), defaultMode: 0o444 } },
    {
      name: 'token',
      secret: { secretName: tokenSecret, items: [{ key: 'token', path: 'token' }], defaultMode: 0o440 },
    },
    ...(providerSecret === undefined
      ? []
      : [{ name: 'providers', secret: { secretName: providerSecret, defaultMode: 0o440 } }]),
    ...(authoritiesConfigMap === undefined ? [] : [authoritiesVolume(authoritiesConfigMap)]),
  ];
}

function authoritiesVolume(name: string) {
  const items = [{ key: authoritiesKey, path: authoritiesKey }];
  return { name: 'authorities', configMap: { name, items, defaultMode: 0o444 } };
}

function makePlacement(workload: string, template: WorkloadTemplate) {
  const { serviceAccountName, affinity, priorityClassName } = template;
  const spread = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: podLabels(workload) },
  }));
  return {
    ...(template.imagePullSecrets.length === 0 ? {} : { imagePullSecrets: template.imagePullSecrets }),
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(Object.keys(template.nodeSelector).length === 0 ? {} : { nodeSelector: template.nodeSelector }),
    ...(template.tolerations.length === 0 ? {} : { tolerations: template.tolerations }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(template.topologySpread ? { topologySpreadConstraints: spread } : {}),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
}
