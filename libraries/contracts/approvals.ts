import { z } from 'zod';
import { auditAuthorSchema, auditStateSchema } from './audit.ts';
import { resourceIdSchema } from './management.ts';

/** Commands that a second person may have to approve. */
const approvalKinds = ['binding.apply', 'binding.unbind', 'policy.archive'] as const;
export type ApprovalKind = (typeof approvalKinds)[number];

/** How long a request for an approval, and an approval, are valid, hours. */
export const approvalHours = 24;

const target = z.strictObject({ type: z.enum(['policy', 'model']), id: z.string() });

export const approvalSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(approvalKinds),
    target,
    digest: z.string().describe('SHA-256 of what the command writes and of the state that it replaces.'),
    after: auditStateSchema.nullable().describe('The state that the command requests; null for an unbind.'),
    requester: auditAuthorSchema,
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().describe('From then on neither the request nor its approval is valid.'),
    approvedAt: z.iso.datetime().nullable(),
    approver: auditAuthorSchema.nullable(),
  })
  .describe('A command that waits for the approval of a second person, or has it.');
export type Approval = z.output<typeof approvalSchema>;

/** Response of GET /api/v1/approvals. */
export const approvalsSchema = z.strictObject({ items: z.array(approvalSchema) });

/** A policy or a model whose commands need a second approval. */
export const approvalRuleSchema = z.union([
  z.strictObject({ policyId: resourceIdSchema }),
  z.strictObject({ modelId: resourceIdSchema }),
]);
export type ApprovalRule = z.output<typeof approvalRuleSchema>;

/** Response of GET /api/v1/approval-rules. */
export const approvalRulesSchema = z.strictObject({ items: z.array(approvalRuleSchema) });

/** Response of a change of a rule. */
export const changedApprovalRuleSchema = z.strictObject({
  rule: approvalRuleSchema,
  changed: z.boolean().describe('Whether the rule was changed; false if it was as asked before.'),
});
