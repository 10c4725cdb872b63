import { z } from 'zod';
import { bundleLimitsSchema } from '#contracts/bundle';
import { providersFileSchema } from '#contracts/providers';
import { connectionsFileSchema } from '#environment/connections-file';
import { profilesFileSchema } from '#models/approved-profiles';
import { contentSources } from '../../dataplane/retrieval/ingest/fetch/content-sources.ts';
import { agentTemplateSchema } from '../../operator/environment/agent-template.ts';
import { servedPoliciesSchema } from '../../operator/environment/served-policies.ts';
import { workloadTemplateSchema } from '../../operator/environment/workload-template.ts';
import { consoleService } from './console-values.ts';
import {
  annotations,
  anyObject,
  apiObjects,
  auditDays,
  auditReceiver,
  budget,
  clientAddress,
  dnsLabel,
  enabled,
  existingConfigMap,
  existingSecret,
  image,
  install,
  issuerName,
  issuersOf,
  labels,
  labelValue,
  logLevel,
  namePart,
  percentOrNumber,
  placement,
  podResources,
  port,
  relations,
  replicas,
  storage,
  subjectName,
  tenantName,
  tokenAudience,
  url,
} from './shared-values.ts';

const { imagePullSecrets, preStopSeconds, terminationGraceSeconds, runAsUser } = workloadTemplateSchema.shape;

const operator = z.strictObject({
  replicas,
  progressDeadlineSeconds: z.int().min(1).max(86_400),
  ...placement,
  podDisruptionBudget: budget,
});

const gateway = z.strictObject({
  name: z.string().min(1).max(63).regex(dnsLabel),
  replicas,
  logLevel,
  clientAuth: z.enum(['keys', 'open']),
  clientKeys: existingSecret,
  maxStreamSeconds: z.int().min(1).max(86_400),
  streamIdleSeconds: z.int().min(1).max(3_600),
  checksPerWorkload: z.int().min(1).max(4_096),
  maxHeldMib: z.int().min(80).max(65_536),
  preStopSeconds: z.int().min(0).max(86_400),
  egress: apiObjects,
  ...clientAddress,
  ...placement,
  podDisruptionBudget: budget,
});

const management = z.strictObject({
  enabled: z.boolean(),
  replicas,
  logLevel,
  issuers: issuersOf({
    groupsClaim: tokenAudience.optional(),
    maxAgeSeconds: z.int().min(1).max(31_536_000).optional(),
    authorizedParties: z.array(tokenAudience).min(1).max(100).optional(),
    scope: z.string().min(1).max(255).optional(),
    accessTokensOnly: z.boolean().optional(),
  }),
  auditDays,
  requestsPerMinute: z.int().min(1).max(1_000_000),
  quotas: z.strictObject({
    policies: z.int().min(1).max(1_000_000),
    revisions: z.int().min(1).max(10_000_000),
    revisionMib: z.int().min(1).max(1_048_576),
  }),
  breakGlass: existingSecret,
  asksProviders: z.boolean(),
  administrators: z.array(z.strictObject({ issuer: issuerName, subject: subjectName })).max(256),
  ...relations,
  egress: apiObjects,
  ...clientAddress,
  ...placement,
  podDisruptionBudget: budget,
});

const storageGuard = z.strictObject({
  servedPolicy: z.union([z.literal(''), servedPoliciesSchema.shape.policies.element.shape.name]),
});

const nats = z.strictObject({
  url: z.union([
    z.literal(''),
    z
      .string()
      .max(2_048)
      .regex(/^(nats|tls):\/\/[^\s@/?#]+$/),
  ]),
  stream: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
  credentials: existingSecret,
  authorities: existingConfigMap,
});

const retrieval = z.strictObject({
  enabled: z.boolean(),
  replicas,
  logLevel,
  issuers: issuersOf({
    groupsClaim: tenantName.optional(),
    tenants: z.array(tenantName).max(1_000).optional(),
    tenantsClaim: tenantName.optional(),
  }),
  profiles: profilesFileSchema.required(),
  gatewayKey: existingSecret,
  collections: z.strictObject({
    tenants: z
      .array(
        z
          .string()
          .max(255)
          .regex(/^[^\s,]([^,]*[^\s,])?$/),
      )
      .max(1_024),
    token: existingSecret,
  }),
  guard: storageGuard,
  emptyAclPolicy: z.enum(['reject', 'strictest']),
  indexMib: z.int().min(16).max(65_536),
  ingestConcurrency: z.int().min(1).max(64),
  auditDays,
  quotas: z.strictObject({
    tenantCollections: z.int().min(1).max(10_000_000),
    tenantDocuments: z.int().min(1).max(1_000_000_000),
    tenantOpenJobs: z.int().min(1).max(10_000_000),
    tenantMib: z.int().min(1).max(100_000_000),
  }),
  ...relations,
  staging: z.strictObject({
    store: z.enum(['claim', 's3']),
    claim: z.strictObject({ ...storage, accessMode: z.enum(['ReadWriteOnce', 'ReadWriteMany']) }),
  }),
  s3: z.strictObject({
    url: z.union([z.literal(''), url]),
    region: z.string().regex(/^[a-z0-9-]{1,64}$/),
    bucket: z.union([z.literal(''), z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)]),
    credentials: existingSecret,
    authorities: existingConfigMap,
  }),
  nats,
  opensearch: z.strictObject({
    url: z.union([
      z.literal(''),
      z
        .string()
        .max(2_048)
        .regex(/^https?:\/\/[^\s@?#]+$/),
    ]),
    user: z.union([z.literal(''), z.string().regex(/^[^\s:]{1,100}$/)]),
    prefix: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
    credentials: existingSecret,
    authorities: existingConfigMap,
  }),
  contentSources: contentSources.required(),
  egress: apiObjects,
  ...clientAddress,
  worker: z.strictObject({ replicas: z.int().min(0).max(64), resources: podResources }),
  ...placement,
  podDisruptionBudget: budget,
});

const memory = z.strictObject({
  enabled: z.boolean(),
  replicas,
  logLevel,
  issuers: issuersOf({ tenants: z.array(tenantName).max(1_000).optional(), tenantsClaim: tenantName.optional() }),
  profiles: profilesFileSchema.pick({ embedding: true }).required(),
  embeddingProfile: z.string().max(128),
  extractionModel: z.string().max(128),
  guard: storageGuard,
  gatewayKey: existingSecret,
  indexMib: z.int().min(16).max(65_536),
  eventConcurrency: z.int().min(1).max(64),
  auditDays,
  quotas: z.strictObject({
    userMemories: z.int().min(1).max(1_000_000),
    tenantUsers: z.int().min(1).max(1_000_000_000),
    tenantOpenEvents: z.int().min(1).max(10_000_000),
  }),
  egress: apiObjects,
  ...clientAddress,
  worker: z.strictObject({ replicas: z.int().min(0).max(64), resources: podResources }),
  ...placement,
  podDisruptionBudget: budget,
});

const catalogue = z.strictObject({
  enabled: z.boolean(),
  replicas,
  logLevel,
  issuers: issuersOf({
    groupsClaim: tenantName.optional(),
    tenants: z.array(tenantName).max(1_000).optional(),
    tenantsClaim: tenantName.optional(),
  }),
  profiles: profilesFileSchema.pick({ embedding: true }).required(),
  embeddingProfile: z.string().max(128),
  gatewayKey: existingSecret,
  guard: storageGuard,
  cursorKey: existingSecret,
  indexMib: z.int().min(16).max(65_536),
  requestsPerCaller: z.int().min(1).max(10_000),
  requestsPerMinute: z.int().min(1).max(1_000_000),
  massRemoval: z.enum(['pause', 'accept']),
  events: z.strictObject({
    url: z.union([z.literal(''), url]),
    source: z.string().regex(/^[^\s]{1,255}$/),
    secret: existingSecret,
    nats,
  }),
  egress: apiObjects,
  ...clientAddress,
  worker: z.strictObject({ resources: podResources }),
  ...placement,
  podDisruptionBudget: budget,
});

const { topologySpread: _alone, ...placementOfOne } = placement;
const agentTemplate = agentTemplateSchema.shape;
const agents = z.strictObject({
  enabled: z.boolean(),
  publicUrl: z.union([z.literal(''), agentTemplate.publicUrl]),
  issuer: z.union([z.literal(''), agentTemplate.issuer]),
  signingKeys: existingSecret,
  issuers: issuersOf({ tenants: z.array(tenantName).max(1_000).optional(), tenantsClaim: tenantName.optional() }),
  ...relations,
  runsPerCaller: z.int().min(1).max(10_000),
  runsPerMinute: z.int().min(1).max(1_000_000),
  budgetPerMinute: z.int().min(0).max(1_000_000),
  budgetPerDay: z.int().min(0).max(100_000_000),
  tokensPerDay: z.int().min(0).max(1_000_000_000_000),
  bytesPerDay: z.int().min(0).max(1_000_000_000_000),
  quota: z.strictObject({
    hard: z.partialRecord(
      // A quota can count the pods of one priority class only for these resources.
      z.enum(['pods', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']),
      z.union([z.int().min(0), z.string().regex(/^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/)]),
    ),
  }),
  gatewayKey: existingSecret,
  fileService: z.strictObject({
    url: z.union([z.literal(''), z.url({ protocol: /^https?$/ }).max(2_048)]),
    key: existingSecret,
  }),
  exposure: z.enum(['R1', 'R2']),
  mcpConfirmers: agentTemplate.mcpConfirmers.unwrap(),
  connections: connectionsFileSchema.shape.connections,
  dnsPeers: apiObjects,
  logLevel,
  terminationGraceSeconds: agentTemplate.terminationGraceSeconds.unwrap(),
  labels,
  ...placementOfOne,
});

const postgresql = z.strictObject({
  enabled: z.boolean(),
  image: image.omit({ pullPolicy: true }),
  persistence: z.enum(['claim', 'none']),
  storage: z.strictObject(storage),
  password: existingSecret,
  ...placementOfOne,
});

const externalDatabase = z.strictObject({
  url: z.union([
    z.literal(''),
    z
      .string()
      .max(2_048)
      .regex(/^postgres(ql)?:\/\/[^\s/]+\/[^\s/]+$/),
  ]),
  password: existingSecret,
});

const runtime = z.strictObject({
  ...placement,
  labels,
  maxUnavailable: percentOrNumber,
  preStopSeconds: preStopSeconds.unwrap(),
  terminationGraceSeconds: terminationGraceSeconds.unwrap(),
  egress: apiObjects,
});

/**
 * The user's values merged with the defaults: every key exists. Values that the operator reads have its own schemas.
 */
export const valuesSchema = z.strictObject({
  nameOverride: namePart,
  fullnameOverride: namePart,
  commonLabels: labels,
  extraObjects: apiObjects,
  image,
  imagePullSecrets: imagePullSecrets.unwrap(),
  runAsUser: runAsUser.unwrap(),
  crds: install,
  admissionPolicies: install,
  userRoles: install,
  providers: providersFileSchema.shape.providers,
  providerCredentials: existingSecret,
  trustedAuthorities: existingConfigMap,
  limits: bundleLimitsSchema.partial(),
  servedPolicies: servedPoliciesSchema.shape.policies,
  runtimeToken: existingSecret,
  adminToken: existingSecret,
  auditExport: z.strictObject({ webhook: auditReceiver, otlp: auditReceiver }),
  traces: z.strictObject({ otlp: auditReceiver }),
  operator,
  gateway,
  management,
  retrieval,
  memory,
  console: consoleService,
  agents,
  catalogue,
  postgresql,
  externalDatabase,
  runtime,
  echo: z.strictObject({ enabled: z.boolean(), resources: podResources }),
  example: enabled,
  networkPolicy: z.strictObject({
    enabled: z.boolean(),
    gatewayFrom: apiObjects,
    managementFrom: apiObjects,
    retrievalFrom: apiObjects,
    memoryFrom: apiObjects,
    catalogueFrom: apiObjects,
    consoleFrom: apiObjects,
    runtimeFrom: apiObjects,
    monitoringFrom: apiObjects,
    apiServerPorts: z.array(port).min(1).max(16),
  }),
  serviceMonitor: z.strictObject({
    enabled: z.boolean(),
    interval: z.string().regex(/^[1-9][0-9]*(s|m)$/),
    labels: z.record(z.string(), labelValue),
  }),
  prometheusRule: z.strictObject({
    enabled: z.boolean(),
    labels: z.record(z.string(), labelValue),
    runbookUrl: z.union([z.literal(''), z.url({ protocol: /^https?$/ }).max(512)]),
  }),
  dashboard: z.strictObject({ enabled: z.boolean(), labels: z.record(z.string(), labelValue), annotations }),
  /** Values that a parent chart passes to all of its subcharts. */
  global: anyObject.optional(),
});
