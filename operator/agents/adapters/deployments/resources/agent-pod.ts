import { flowLimits } from '#contracts/flow-limits';
import type { AgentTemplate } from '../../../../environment/agent-template.ts';
import {
  heapSettings,
  placementOf,
  restrictedContainer,
  restrictedPod,
  startSeconds,
  terminationMessage,
} from '../../../../workloads/pods/restricted-pod.ts';
import { agentLabels } from './agent-labels.ts';
import { authoritiesEnvironment, authoritiesVolumes } from './authorities.ts';
import { scratchMount, scratchVolume } from './scratch.ts';

const folder = '/etc/portcullis';

export const agentPorts = { http: 8_080, admin: 9_090 } as const;
/** The key of the bundle in its ConfigMap. */
export const agentBundleKey = 'bundle.json';

type AgentPodInput = {
  /** Name of the workload and of its ConfigMap. */
  readonly name: string;
  readonly digest: string;
  /** Names of the served policies that the version names. */
  readonly policies: readonly string[];
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
};

/** The pod of a version: restricted by the Pod Security Standards, without access to the API server. */
export function makeAgentPod(input: AgentPodInput, template: AgentTemplate) {
  const { name, digest } = input;
  const labels = { ...agentLabels(name, template.labels), ...template.runtimeClient };
  return {
    metadata: {
      labels,
      annotations: { ...template.annotations, 'portcullis.dev/build': template.image, 'portcullis.dev/digest': digest },
    },
    spec: {
      ...restrictedPod(template),
      terminationGracePeriodSeconds: template.terminationGraceSeconds,
      containers: [makeContainer(input, template)],
      volumes: [...makeVolumes(input, template), scratchVolume(scratchSize(input))],
      ...placementOf(template),
    },
  };
}

function makeContainer(input: AgentPodInput, template: AgentTemplate) {
  const { image, imagePullPolicy, command, resources } = template;
  return {
    name: 'agent',
    image,
    imagePullPolicy,
    command,
    env: makeEnvironment(input, template),
    ports: [
      { name: 'http', containerPort: agentPorts.http, protocol: 'TCP' },
      { name: 'admin', containerPort: agentPorts.admin, protocol: 'TCP' },
    ],
    resources,
    securityContext: restrictedContainer,
    startupProbe: { ...probe('/livez', 1, 5), failureThreshold: startSeconds },
    readinessProbe: { ...probe('/readyz', 1, 2), failureThreshold: 2 },
    // A version with a problem stays alive: its state names the problem.
    livenessProbe: { ...probe('/livez', 10, 5), failureThreshold: 3 },
    terminationMessagePath: terminationMessage,
    terminationMessagePolicy: 'File',
    volumeMounts: [
      ...makeVolumes(input, template).map(({ name }) => ({ name, mountPath: `${folder}/${name}`, readOnly: true })),
      scratchMount,
    ],
  };
}

function makeEnvironment({ policies }: AgentPodInput, template: AgentTemplate) {
  const { modelGateway, fileService, mcpConfirmers, retrieval, memory, traces } = template;
  return [
    { name: 'PORTCULLIS_AGENT_BUNDLE', value: `${folder}/bundle/${agentBundleKey}` },
    { name: 'PORTCULLIS_AGENT_HOST', value: '0.0.0.0' },
    { name: 'PORTCULLIS_AGENT_PORT', value: `${agentPorts.http}` },
    { name: 'PORTCULLIS_ADMIN_PORT', value: `${agentPorts.admin}` },
    { name: 'PORTCULLIS_IDENTITY', value: 'production' },
    { name: 'PORTCULLIS_GATEWAY_ISSUER', value: template.issuer },
    { name: 'PORTCULLIS_AGENT_GATEWAY_URL', value: template.gateway },
    ...(retrieval === undefined ? [] : [{ name: 'PORTCULLIS_RETRIEVAL_URL', value: retrieval.url }]),
    ...(memory === undefined ? [] : [{ name: 'PORTCULLIS_MEMORY_URL', value: memory.url }]),
    { name: 'PORTCULLIS_MODEL_GATEWAY_URL', value: modelGateway.url },
    ...(modelGateway.secret === undefined
      ? []
      : [{ name: 'PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE', value: `${folder}/gateway-key/token` }]),
    { name: 'PORTCULLIS_RUNTIME_TOKEN_FILE', value: `${folder}/runtime-token/token` },
    ...(policies.length === 0 ? [] : [{ name: 'PORTCULLIS_POLICY_TARGETS_DIR', value: `${folder}/policies` }]),
    ...(fileService === undefined ? [] : [{ name: 'PORTCULLIS_FILE_SERVICE_URL', value: fileService.url }]),
    ...(fileService?.secret === undefined
      ? []
      : [{ name: 'PORTCULLIS_FILE_SERVICE_TOKEN_FILE', value: `${folder}/file-service/token` }]),
    ...(mcpConfirmers.length === 0 ? [] : [{ name: 'PORTCULLIS_MCP_CONFIRMERS', value: mcpConfirmers.join(',') }]),
    ...(traces === undefined ? [] : [{ name: 'PORTCULLIS_TRACES_OTLP_URL', value: traces.url }]),
    ...(traces?.secret === undefined
      ? []
      : [{ name: 'PORTCULLIS_TRACES_OTLP_TOKEN_FILE', value: `${folder}/traces/token` }]),
    { name: 'PORTCULLIS_LOG_LEVEL', value: template.logLevel },
    { name: 'PORTCULLIS_TERMINATION_MESSAGE_FILE', value: terminationMessage },
    ...authoritiesEnvironment(template),
    ...heapSettings(template),
  ];
}

function probe(path: string, periodSeconds: number, timeoutSeconds: number) {
  return { httpGet: { path, port: 'admin', scheme: 'HTTP' }, periodSeconds, timeoutSeconds };
}

/**
 * Space for the temporary files of all concurrent runs, each with as many bytes as a manifest may allow, and for the
 * files of the startup check, which count as one more run.
 */
function scratchSize({ concurrency }: Pick<AgentPodInput, 'concurrency'>): string {
  return `${((concurrency + 1) * flowLimits.manifest.fileBytes.max) / 1_048_576}Mi`;
}

/** One volume for each read-only mount; its name is derived from the path. */
function makeVolumes({ name, policies }: AgentPodInput, template: AgentTemplate) {
  const { modelGateway, fileService, traces } = template;
  return [
    {
      name: 'bundle',
      configMap: { name, items: [{ key: agentBundleKey, path: agentBundleKey }], defaultMode: 0o444 },
    },
    secretVolume('runtime-token', template.runtimeTokenSecret, 'token'),
    ...(modelGateway.secret === undefined ? [] : [secretVolume('gateway-key', modelGateway.secret, modelGateway.key)]),
    ...(fileService?.secret === undefined ? [] : [secretVolume('file-service', fileService.secret, 'token')]),
    ...(traces?.secret === undefined ? [] : [secretVolume('traces', traces.secret, 'token')]),
    ...(policies.length === 0 ? [] : [policiesVolume(policies)]),
    ...authoritiesVolumes(template),
  ];
}

function secretVolume(name: string, secretName: string, key: string) {
  return { name, secret: { secretName, items: [{ key, path: 'token' }], defaultMode: 0o440 } };
}

/** The targets of served policies. A pod waits until each of them is published; later targets are followed. */
function policiesVolume(policies: readonly string[]) {
  const sources = policies.map((policy) => ({
    configMap: { name: servedMapName(policy), items: [{ key: 'target.json', path: `${policy}.json` }] },
  }));
  return { name: 'policies', projected: { sources, defaultMode: 0o444 } };
}

/** The ConfigMap that publishes the target of a served policy. */
function servedMapName(policy: string): string {
  return `portcullis-served-${policy}`;
}
