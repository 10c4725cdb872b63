import { z } from 'zod';
import { nameSchema } from '#resources/metadata';
import { addedLabels, apiObject, containerResources, podSelector, podUser } from './workload-template.ts';

/** Longest drain of an agent process, seconds; a pod is killed after this and its preStop time. */
const drainSeconds = 22;

const service = () => z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2_048), pods: podSelector }).optional();

/**
 * Settings of the pods of agents (`agents.yaml`); an installation without the file does not run agents. The settings
 * are rendered into the objects of a version when it first runs; running versions keep their objects. Names are those
 * of the Kubernetes API.
 */
export const agentTemplateSchema = z
  .strictObject({
    image: z.string().min(1).max(512).describe('image of the agent process; also its build.'),
    imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
    imagePullSecrets: z.array(z.strictObject({ name: nameSchema })).default([]),
    command: z.array(z.string()).min(1).default(['node', 'dataplane/agents/main.ts']),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .max(1_024)
      .describe('publicUrl is the address of agents for clients, below which each version has its own.'),
    issuer: z.string().min(1).max(2_048).describe('issuer of the tokens with which the gateway calls agents.'),
    gateway: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .describe(
        'gateway is the address of the gateway that calls agents, publishes its keys and exchanges grants of runs.',
      ),
    retrieval: service().describe('retrieval has the address and the pods of the retrieval service that agents call.'),
    memory: service().describe('memory has the address and the pods of the memory service that agents call.'),
    runtimeTokenSecret: nameSchema.describe('runtimeTokenSecret holds the token of the runtimes under the key token.'),
    modelGateway: z
      .strictObject({
        url: z.url({ protocol: /^https?$/ }).max(2_048),
        secret: nameSchema.optional(),
        key: z.string().min(1).max(253).default('token'),
      })
      .describe(
        'modelGateway has the address of the gateway of the models that flows name, and the Secret and key of a client key.',
      ),
    fileService: z
      .strictObject({ url: z.url({ protocol: /^https?$/ }).max(2_048), secret: nameSchema.optional() })
      .optional()
      .describe(
        'fileService has the address of the file service and the name of a Secret, whose key `token` has the token for it.',
      ),
    traces: z
      .strictObject({ url: z.url({ protocol: /^https?$/ }).max(2_048), secret: nameSchema.optional() })
      .optional()
      .describe(
        'traces has the address of a collector for the spans of agents and the name of a Secret, whose key `token` has the token for it.',
      ),
    authoritiesConfigMap: nameSchema
      .optional()
      .describe(
        'authoritiesConfigMap holds, under the key ca.crt, certificate authorities of the services that agents call, in addition to those of the system.',
      ),
    mcpConfirmers: z
      .array(
        z
          .string()
          .regex(/^[^|]+\|.+$/)
          .max(511),
      )
      .max(64)
      .default([])
      .describe(
        'mcpConfirmers are the people, each as issuer|subject, that may call MCP while its profile is confirmed.',
      ),
    serviceAccountName: nameSchema.optional().describe('serviceAccountName of the pods; they get no token of it.'),
    resources: containerResources.default({}),
    runAsUser: podUser.optional(),
    labels: addedLabels.default({}).describe('labels beyond those that the operator sets, for every object.'),
    annotations: z.record(z.string(), z.string()).default({}).describe('annotations of the pods.'),
    nodeSelector: z.record(z.string(), z.string()).default({}),
    tolerations: z.array(apiObject).default([]),
    affinity: apiObject.optional(),
    priorityClassName: nameSchema.optional(),
    terminationGraceSeconds: z.int().min(drainSeconds).max(3_600).default(40),
    networkPolicy: z.boolean().default(true).describe('networkPolicy false leaves the pods open to the whole cluster.'),
    gatewayPods: podSelector.describe(
      'gatewayPods are the labels of the pods that may call agents, and that agents call.',
    ),
    operatorPods: podSelector.describe('operatorPods are the labels of the pods that read the state of agents.'),
    dnsPeers: z
      .array(apiObject)
      .min(1)
      .default([{ namespaceSelector: {} }])
      .describe(
        'dnsPeers are the peers (NetworkPolicyPeer) at which pods of images look up names; any pod when absent.',
      ),
    runtimeClient: podSelector
      .default({ 'portcullis.dev/runtime-client': 'true' })
      .describe('runtimeClient are the labels of pods that runtimes admit.'),
    monitoring: z
      .array(apiObject)
      .default([])
      .describe('monitoring are the peers (NetworkPolicyPeer) that may read metrics.'),
    logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  })
  .describe('Settings of agent pods.');

export type AgentTemplate = z.infer<typeof agentTemplateSchema>;
