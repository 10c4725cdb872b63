import { z } from 'zod';
import { nameSchema } from '#resources/metadata';

const labelKey = z
  .string()
  .max(317)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/, 'must be a label key');
const ownKey = labelKey.refine(
  (key) => !key.startsWith('portcullis.dev/'),
  'keys of portcullis.dev/ belong to the operator',
);
const labelValue = z.string().regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/, 'must be a label value');
/** Labels that an installation adds. */
export const addedLabels = z.record(ownKey, labelValue);
/** Labels by which pods are selected. */
export const podSelector = z.record(labelKey, labelValue);
const quantity = z
  .string()
  .regex(/^\d+(\.\d+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei|[eE]-?\d+)?$/, 'must be a quantity, such as 250m or 256Mi');
/** A part of a pod or NetworkPolicy in the form of the Kubernetes API, which validates it. */
export const apiObject = z.record(z.string(), z.unknown());

/** Requests and limits of a container. */
export const containerResources = z.strictObject({
  requests: z.record(z.string(), quantity).optional(),
  limits: z.record(z.string(), quantity).optional(),
});

/** The user of pods: a number, or empty if the cluster assigns one. */
export const podUser = z.union([z.literal(''), z.int().min(1).max(2_147_483_647)]);

/** Names of the secret files in a mounted Secret; a credential reference is such a name. */
const secretName = nameSchema;

/** Seconds for the drain of a runtime after its preStop hook. */
const drainSeconds = 8;

/**
 * Settings of runtime pods (`workload.yaml`). They are rendered into a workload when it is created; existing workloads
 * keep the settings with which they were created. Names are those of the Kubernetes API.
 */
export const workloadTemplateSchema = z
  .strictObject({
    image: z.string().min(1).max(512).describe('image of the runtime.'),
    imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
    imagePullSecrets: z.array(z.strictObject({ name: nameSchema })).default([]),
    command: z.array(z.string()).min(1).default(['node', 'runtime/main.ts']),
    serviceAccountName: nameSchema.optional().describe('serviceAccountName of the pods; they get no token of it.'),
    resources: containerResources.default({}),
    tokenSecret: secretName.describe('tokenSecret holds the token of the runtimes under the key token.'),
    providerSecret: secretName
      .optional()
      .describe('providerSecret holds the credentials of detectors and classifiers, one key each.'),
    traces: z
      .strictObject({ url: z.url({ protocol: /^https?$/ }).max(2_048), secret: nameSchema.optional() })
      .optional()
      .describe(
        'traces has the address of a collector for the spans of runtimes and the name of a Secret, whose key `token` has the token for it.',
      ),
    authoritiesConfigMap: nameSchema
      .optional()
      .describe(
        'authoritiesConfigMap holds, under the key ca.crt, certificate authorities of providers in addition to those of the system.',
      ),
    runAsUser: podUser
      .optional()
      .describe(
        'runAsUser of the pods, and their group; that of the image where absent, the choice of the cluster where empty.',
      ),
    labels: addedLabels.default({}).describe('labels beyond those that the operator sets, for every object.'),
    annotations: z.record(z.string(), z.string()).default({}).describe('annotations of the pods.'),
    nodeSelector: z.record(z.string(), z.string()).default({}),
    tolerations: z.array(apiObject).default([]),
    affinity: apiObject.optional(),
    topologySpread: z.boolean().default(true).describe('topologySpread keeps pods of one workload on different nodes.'),
    priorityClassName: nameSchema.optional(),
    maxUnavailable: z
      .union([z.int().min(1).max(64), z.string().regex(/^(100|[1-9]?\d)%$/)])
      .default(1)
      .describe('maxUnavailable of the PodDisruptionBudget.'),
    preStopSeconds: z
      .int()
      .min(0)
      .max(600)
      .default(5)
      .describe(
        'preStopSeconds is the time for which a terminating pod keeps serving while clients still use its address.',
      ),
    terminationGraceSeconds: z.int().min(1).max(3_600).default(30),
    networkPolicy: z.boolean().default(true).describe('networkPolicy false leaves the pods open to the whole cluster.'),
    allowFrom: podSelector
      .default({ 'app.kubernetes.io/part-of': 'portcullis' })
      .describe('allowFrom are the labels of the pods, in the same namespace, that may call a runtime.'),
    ingress: z
      .array(apiObject)
      .default([])
      .describe('ingress are further peers (NetworkPolicyPeer) that may call a runtime, for example to read metrics.'),
    egress: z
      .array(apiObject)
      .optional()
      .describe(
        'egress are the rules (NetworkPolicyEgressRule) by which a runtime reaches its providers; where absent, their ports at any address.',
      ),
    port: z.int().min(1_024).max(65_535).default(8_000),
  })
  .superRefine((template, context) => {
    const needed = template.preStopSeconds + drainSeconds;
    if (template.terminationGraceSeconds >= needed) return;
    const message = `must be at least ${needed}: preStopSeconds and ${drainSeconds} seconds to end`;
    context.addIssue({ code: 'custom', path: ['terminationGraceSeconds'], message });
  });

export type WorkloadTemplate = z.infer<typeof workloadTemplateSchema>;
