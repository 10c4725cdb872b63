import { bundleKey, bundleMapName, digestAnnotation } from '../../../../bundles/resources/bundle-config-map.ts';
import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import {
  heapSettings,
  placementOf,
  restrictedContainer,
  restrictedPod,
  startSeconds,
  terminationMessage,
} from '../../../pods/restricted-pod.ts';
import type { WorkloadIdentity } from '../../../ports.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';

const portName = 'http';
const folder = '/etc/portcullis';
const authoritiesKey = 'ca.crt';

/** The pod of a runtime: restricted by the Pod Security Standards, without access to the API server. */
export function makePodTemplate(identity: WorkloadIdentity, template: WorkloadTemplate) {
  const { name, digest, build } = identity;
  return {
    metadata: {
      labels: workloadLabels(name, template.labels),
      annotations: { ...template.annotations, 'portcullis.dev/build': build, [digestAnnotation]: digest },
    },
    spec: {
      ...restrictedPod(template),
      terminationGracePeriodSeconds: template.terminationGraceSeconds,
      containers: [makeContainer(template)],
      volumes: makeVolumes(digest, template),
      ...placementOf(template, template.topologySpread ? spreadOf(name) : []),
    },
  };
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
    securityContext: restrictedContainer,
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
      ...(template.traces?.secret === undefined
        ? []
        : [{ name: 'traces', mountPath: `${folder}/traces`, readOnly: true }]),
      ...(template.authoritiesConfigMap === undefined
        ? []
        : [{ name: 'authorities', mountPath: `${folder}/authorities`, readOnly: true }]),
    ],
  };
}

function makeEnvironment(template: WorkloadTemplate) {
  return [
    { name: 'PORTCULLIS_LISTEN', value: `0.0.0.0:${template.port}` },
    { name: 'PORTCULLIS_BUNDLE_FILE', value: `${folder}/bundle/${bundleKey}` },
    { name: 'PORTCULLIS_TOKEN_FILE', value: `${folder}/token/token` },
    ...(template.providerSecret === undefined
      ? []
      : [{ name: 'PORTCULLIS_SECRETS_DIR', value: `${folder}/providers` }]),
    ...(template.traces === undefined ? [] : [{ name: 'PORTCULLIS_TRACES_OTLP_URL', value: template.traces.url }]),
    ...(template.traces?.secret === undefined
      ? []
      : [{ name: 'PORTCULLIS_TRACES_OTLP_TOKEN_FILE', value: `${folder}/traces/token` }]),
    ...(template.authoritiesConfigMap === undefined
      ? []
      : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${folder}/authorities/${authoritiesKey}` }]),
    { name: 'PORTCULLIS_TERMINATION_MESSAGE_FILE', value: terminationMessage },
    ...heapSettings(template),
  ];
}

/** /readyz answers 200 once the bundle is loaded, so that it serves all three probes. */
function probe(periodSeconds: number, timeoutSeconds: number) {
  return { httpGet: { path: '/readyz', port: portName, scheme: 'HTTP' }, periodSeconds, timeoutSeconds };
}

function makeVolumes(digest: string, { tokenSecret, providerSecret, authoritiesConfigMap, traces }: WorkloadTemplate) {
  return [
    { name: 'bundle', configMap: { name: bundleMapName(digest), defaultMode: 0o444 } },
    tokenVolume('token', tokenSecret),
    ...(providerSecret === undefined
      ? []
      : [{ name: 'providers', secret: { secretName: providerSecret, defaultMode: 0o440 } }]),
    ...(traces?.secret === undefined ? [] : [tokenVolume('traces', traces.secret)]),
    ...(authoritiesConfigMap === undefined ? [] : [authoritiesVolume(authoritiesConfigMap)]),
  ];
}

function tokenVolume(name: string, secretName: string) {
  return { name, secret: { secretName, items: [{ key: 'token', path: 'token' }], defaultMode: 0o440 } };
}

function authoritiesVolume(name: string) {
  const items = [{ key: authoritiesKey, path: authoritiesKey }];
  return { name: 'authorities', configMap: { name, items, defaultMode: 0o444 } };
}

/** Spreads the pods of a workload over nodes and zones. */
function spreadOf(workload: string) {
  return ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: podLabels(workload) },
  }));
}
