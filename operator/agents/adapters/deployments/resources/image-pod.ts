import type { SdkBundle } from '#contracts/sdk-bundle';
import type { AgentTemplate } from '../../../../environment/agent-template.ts';
import {
  heapSettings,
  placementOf,
  restrictedContainer,
  restrictedPod,
  startSeconds,
} from '../../../../workloads/pods/restricted-pod.ts';
import { imagePaths } from '../../../image-paths.ts';
import { agentLabels } from './agent-labels.ts';
import { agentPorts } from './agent-pod.ts';
import { authoritiesEnvironment, authoritiesMounts, authoritiesVolumes } from './authorities.ts';
import { scratchMount, scratchVolume } from './scratch.ts';

/** Size of the folder for temporary files. */
const scratchSize = '64Mi';

/**
 * The pod of an image, whose code is not ours: restricted by the Pod Security Standards, with a read-only root file
 * system, without a token of the API server or of the runtimes, and without the label that runtimes admit.
 */
export function makeImagePod(name: string, bundle: SdkBundle, template: AgentTemplate) {
  const annotations = { 'portcullis.dev/build': bundle.image, 'portcullis.dev/digest': bundle.digest };
  return {
    metadata: {
      labels: withoutRuntimeClient(agentLabels(name, template.labels), template),
      annotations: { ...template.annotations, ...annotations },
    },
    spec: {
      ...restrictedPod(template),
      terminationGracePeriodSeconds: template.terminationGraceSeconds,
      containers: [makeContainer(bundle, template)],
      volumes: [scratchVolume(scratchSize), ...authoritiesVolumes(template)],
      ...placementOf(template),
    },
  };
}

/** Labels of the environment must not open the runtimes either. */
function withoutRuntimeClient(labels: Readonly<Record<string, string>>, { runtimeClient }: AgentTemplate) {
  const opening = Object.keys(runtimeClient);
  return Object.fromEntries(Object.entries(labels).filter(([label]) => !opening.includes(label)));
}

function makeContainer(bundle: SdkBundle, template: AgentTemplate) {
  const alive = { tcpSocket: { port: 'http' }, timeoutSeconds: 5 };
  return {
    name: 'agent',
    image: bundle.image,
    imagePullPolicy: template.imagePullPolicy,
    env: makeEnvironment(bundle, template),
    ports: [{ name: 'http', containerPort: agentPorts.http, protocol: 'TCP' }],
    resources: template.resources,
    securityContext: restrictedContainer,
    startupProbe: { ...alive, periodSeconds: 1, failureThreshold: startSeconds },
    readinessProbe: {
      httpGet: { path: imagePaths.ready, port: 'http', scheme: 'HTTP' },
      periodSeconds: 1,
      timeoutSeconds: 2,
      failureThreshold: 2,
    },
    livenessProbe: { ...alive, periodSeconds: 10, failureThreshold: 3 },
    volumeMounts: [scratchMount, ...authoritiesMounts(template)],
  };
}

/** The variables that the packages of `examples/sdk-agents` read. None of them is a secret. */
function makeEnvironment({ agentId, versionId, publicUrl, requires }: SdkBundle, template: AgentTemplate) {
  const models = requires.flatMap(({ kind, name }) => (kind === 'model' ? [name] : []));
  const gateway = template.gateway.replace(/\/$/, '');
  return [
    { name: 'PORTCULLIS_GATEWAY_URL', value: gateway },
    { name: 'PORTCULLIS_GATEWAY_ISSUER', value: template.issuer },
    { name: 'PORTCULLIS_GATEWAY_JWKS_URL', value: `${gateway}/.well-known/jwks.json` },
    { name: 'PORTCULLIS_AUDIENCE', value: `urn:portcullis:agent:${agentId}:version:${versionId}` },
    { name: 'PORTCULLIS_PUBLIC_URL', value: publicUrl },
    { name: 'AGENT_ID', value: agentId },
    { name: 'VERSION_ID', value: versionId },
    { name: 'HOST', value: '0.0.0.0' },
    { name: 'PORT', value: `${agentPorts.http}` },
    ...(models.length === 0 ? [] : [{ name: 'MODELS', value: models.join(',') }]),
    ...authoritiesEnvironment(template),
    ...heapSettings(template),
  ];
}
