import { z } from 'zod';
import { resourceSchema } from './metadata.ts';

const routeVersion = z.strictObject({
  route: z.string().describe('route is the name of the GatewayRoute.'),
  uid: z.string(),
  version: z.string().describe('version is its resource version.'),
});

/** What one gateway replica says that it holds. Written by that replica only. */
export const gatewayReportSpecSchema = z.strictObject({
  gateway: z.string().min(1),
  bootId: z.uuid().describe('bootId is new at every start of the process.'),
  ready: z.boolean().describe('ready says whether the replica takes traffic.'),
  formats: z.array(z.int().min(1)).min(1).describe('formats are the route formats that the replica reads.'),
  appliedThrough: z
    .string()
    .describe('appliedThrough is the resource version up to which every route was seen and is taken or listed.'),
  pending: z.array(routeVersion),
  rejected: z.array(z.strictObject({ ...routeVersion.shape, reason: z.string() })),
  inUse: z
    .array(z.strictObject({ workload: z.string(), generationId: z.string() }))
    .describe('inUse are workloads that requests in flight or a taken route pin.'),
});
export const gatewayReportSchema = resourceSchema('GatewayReport', gatewayReportSpecSchema, z.strictObject({}));

export type GatewayReportSpec = z.infer<typeof gatewayReportSpecSchema>;
export type GatewayReport = z.infer<typeof gatewayReportSchema>;
