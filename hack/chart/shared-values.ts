import { z } from 'zod';
import { workloadTemplateSchema } from '../../operator/environment/workload-template.ts';

/** A part of an object of the Kubernetes API; the API server validates its content. */
export const anyObject = z.record(z.string(), z.unknown());
export const apiObjects = z.array(anyObject);

/** Names of objects and hosts, as the API server accepts them. */
const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
export const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
export const secretName = z.union([z.literal(''), z.string().max(253).regex(dnsName)]);
export const namePart = z.union([z.literal(''), z.string().max(40).regex(dnsLabel)]);

/** Keys that the chart, Helm and the operator set themselves. */
const taken = /^(app\.kubernetes\.io|helm\.sh|portcullis\.dev)\//;
const labelKey = z
  .string()
  .max(317)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
  .refine((key) => !taken.test(key))
  .meta({ not: { pattern: taken.source } });
export const labelValue = z.string().regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
export const labels = z.record(labelKey, labelValue);
export const annotations = z.record(z.string().min(1).max(317), z.string());

const { resources, imagePullPolicy, maxUnavailable } = workloadTemplateSchema.shape;
export const percentOrNumber = maxUnavailable.unwrap();
export const podResources = resources.unwrap();

/** Scheduling and naming of pods, the same for every component. */
export const placement = {
  resources: podResources,
  podAnnotations: annotations,
  nodeSelector: z.record(z.string(), z.string()),
  tolerations: apiObjects,
  affinity: anyObject,
  topologySpread: z.boolean(),
  priorityClassName: secretName,
};
export const replicas = z.int().min(1).max(64);
export const budget = z.strictObject({ enabled: z.boolean(), maxUnavailable: percentOrNumber });
export const existingSecret = z.strictObject({ existingSecret: secretName });
export const existingConfigMap = z.strictObject({ existingConfigMap: secretName });
export const install = z.strictObject({ install: z.boolean() });
export const enabled = z.strictObject({ enabled: z.boolean() });
export const port = z.int().min(1).max(65_535);

export const image = z.strictObject({
  repository: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9.:/_-]*$/),
  tag: z.union([z.literal(''), z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/)]),
  digest: z.union([z.literal(''), z.string().regex(/^sha256:[0-9a-f]{64}$/)]),
  pullPolicy: imagePullPolicy.unwrap(),
});

export const storage = {
  size: z.string().regex(/^[1-9][0-9]*(Mi|Gi|Ti|M|G|T)$/),
  storageClassName: secretName,
};

export const logLevel = z.enum(['debug', 'info', 'warn', 'error']);
/** The Service for clients, and its certificate. */
export const clientAddress = {
  service: z.strictObject({ type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']), port, annotations }),
  tls: existingSecret,
};
export const url = z.url({ protocol: /^https?$/ }).max(2_048);

/** A receiver of the audit log; without a URL there is no receiver. */
export const auditReceiver = z.strictObject({ url: z.union([z.literal(''), url]), ...existingSecret.shape });
export const auditDays = z.int().min(1).max(36_500);

/** PORTCULLIS_ADMINISTRATORS joins issuer and subject with a bar and separates administrators with commas. */
export const issuerName = z
  .string()
  .max(255)
  .regex(/^[^\s,|]+$/);
export const subjectName = z
  .string()
  .max(255)
  .regex(/^[^\s,]([^,]*[^\s,])?$/);
export const tokenAudience = z.string().min(1).max(255);
const keySet = z.union([z.string().min(1).max(131_072), z.looseObject({ keys: z.array(anyObject).min(1).max(32) })]);

/** A service refuses to start with keys that travel without TLS. */
const keysUrl = z
  .string()
  .max(2_048)
  .regex(/^https:\/\/[^/]/);
/** Trusted issuers, with members that only some services read. */
export const issuersOf = (more: z.ZodRawShape) => {
  const shared = { issuer: issuerName, audience: tokenAudience, ...more };
  const keys = [z.strictObject({ ...shared, jwksUrl: keysUrl }), z.strictObject({ ...shared, jwks: keySet })] as const;
  return z.array(z.union(keys)).max(32);
};
export const relations = {
  relations: z.enum(['postgres', 'openfga']),
  openfga: z.strictObject({
    url: z.union([z.literal(''), url]),
    store: z.string().regex(/^[A-Za-z0-9 .\-/^_&@]{3,64}$/),
    token: existingSecret,
  }),
};

/** The name of a tenant, or of a claim of tenants. */
export const tenantName = z.string().min(1).max(255);
