import { z } from 'zod';
import { providerCauses } from '#contracts/provider-causes';
import { resourceSchema, uidSchema } from './metadata.ts';

/** This number is larger than the number of routes of any installation. */
const maxRoutes = 16_384;

/** Maximum number of entries of providers. */
export const maxProviderStates = 512;

const routeVersion = z.strictObject({
  route: z.string().max(253).describe('route is the name of the route.'),
  uid: z.string().max(128).describe('uid is its UID.'),
  version: z.string().max(128).describe('version is its resource version.'),
});

const rejectedVersion = z.strictObject({
  ...routeVersion.shape,
  reason: z.string().max(4_096).describe('reason is the reason of the rejection.'),
});

const pinnedWorkload = z.strictObject({
  workload: z.string().max(253).describe('workload is the name of the RuntimeWorkload.'),
  generationId: z.string().max(64).describe('generationId is the application that uses it.'),
});

const providerState = z.strictObject({
  provider: z.string().max(128).describe('provider is the name of the approved provider.'),
  model: z.string().max(256).optional().describe('model is set when only this model of the provider is affected.'),
  workload: z.string().max(253).optional().describe('workload is the RuntimeWorkload of a rule that names it.'),
  rule: z.string().max(128).optional().describe('rule is set for a detector or classifier, and names its rule.'),
  cause: z
    .enum(providerCauses)
    .optional()
    .describe('cause is the reason why it cannot be used; absent when it can be reached.'),
});

const agentsSchema = z.strictObject({
  appliedThrough: z
    .string()
    .max(128)
    .describe('appliedThrough is the resource version up to which every AgentRoute is loaded, pending or rejected.'),
  pending: z.array(routeVersion).max(maxRoutes).describe('pending are routes that the replica has not loaded yet.'),
  rejected: z.array(rejectedVersion).max(maxRoutes).describe('rejected are routes that the replica refuses to load.'),
  inUse: z
    .array(
      z.strictObject({
        agentId: z.string().max(64).describe('agentId is the id of the agent.'),
        versionId: uidSchema.describe('versionId is the version that calls in flight use.'),
      }),
    )
    .max(maxRoutes)
    .describe('inUse are versions that a loaded route lists or that calls in flight use.'),
});

/** The state of one gateway replica. Only that replica writes it. */
const gatewayReportSpecSchema = z.strictObject({
  gateway: z.string().min(1).max(63).describe('gateway is the gateway that the replica belongs to.'),
  bootId: z.uuid().max(36).describe('bootId is new at every start of the process.'),
  ready: z.boolean().describe('ready indicates whether the replica accepts traffic.'),
  formats: z
    .array(z.int().min(1).max(65_536))
    .min(1)
    .max(16)
    .describe('formats are the route formats that the replica reads.'),
  appliedThrough: z
    .string()
    .max(128)
    .describe('appliedThrough is the resource version up to which every route is loaded, pending or rejected.'),
  pending: z.array(routeVersion).max(maxRoutes).describe('pending are routes that the replica has not loaded yet.'),
  rejected: z.array(rejectedVersion).max(maxRoutes).describe('rejected are routes that the replica refuses to load.'),
  inUse: z
    .array(pinnedWorkload)
    .max(maxRoutes)
    .describe('inUse are workloads that requests in flight or a loaded route use.'),
  providers: z
    .array(providerState)
    .max(maxProviderStates)
    .optional()
    .describe(
      'providers are the providers of the routes that the replica has tried, with the result of the newest call; of detectors and classifiers only those that do not judge.',
    ),
  agents: agentsSchema
    .optional()
    .describe('agents is the state of routes of agents; absent in a replica that does not serve agents.'),
});
export const gatewayReportSchema = resourceSchema('GatewayReport', gatewayReportSpecSchema, z.strictObject({}));

export type GatewayReportSpec = z.infer<typeof gatewayReportSpecSchema>;
export type GatewayReport = z.infer<typeof gatewayReportSchema>;
