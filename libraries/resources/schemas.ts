import type { z } from 'zod';
import { agentSchema } from './agent.ts';
import { agentRouteSchema } from './agent-route.ts';
import { agentVersionSchema } from './agent-version.ts';
import { collectionResourceSchema } from './collection.ts';
import { gatewayReportSchema } from './gateway-report.ts';
import { gatewayRouteSchema } from './gateway-route.ts';
import { guardrailPolicySchema } from './guardrail-policy.ts';
import { type Kind, kinds } from './kinds.ts';
import { modelBindingSchema } from './model-binding.ts';
import { policyRevisionSchema } from './policy-revision.ts';
import { runtimeWorkloadSchema } from './runtime-workload.ts';

/** The schema of the complete resource of each kind. */
export const resourceSchemas = {
  guardrailPolicy: guardrailPolicySchema,
  policyRevision: policyRevisionSchema,
  modelBinding: modelBindingSchema,
  runtimeWorkload: runtimeWorkloadSchema,
  gatewayRoute: gatewayRouteSchema,
  gatewayReport: gatewayReportSchema,
  collection: collectionResourceSchema,
  agentVersion: agentVersionSchema,
  agent: agentSchema,
  agentRoute: agentRouteSchema,
} as const satisfies Record<keyof typeof kinds, z.ZodType>;

const byKind: ReadonlyMap<string, { readonly kind: Kind; readonly schema: z.ZodType }> = new Map(
  Object.entries(kinds).map(([key, kind]) => [kind.kind, { kind, schema: resourceSchemas[key as keyof typeof kinds] }]),
);

/** The kind with this name and its schema; undefined for a kind of another API group. */
export function findKind(name: string): { readonly kind: Kind; readonly schema: z.ZodType } | undefined {
  return byKind.get(name);
}

/** The schema of the complete resource of one kind. */
export function schemaOf(kind: Kind): z.ZodType {
  const found = byKind.get(kind.kind);
  if (found === undefined) throw new TypeError(`there is no kind ${kind.kind}`);
  return found.schema;
}
