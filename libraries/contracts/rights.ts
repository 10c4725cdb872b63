import { z } from 'zod';
import { resourceIdSchema } from './management.ts';

/** Roles of the control plane; `administrator` includes all other roles. */
export const controlRoles = ['administrator', 'author', 'applier', 'viewer'] as const;

const name = z.string().min(1).max(255);

/** The holder of a role: a user, or the members of a group, under the name that the tokens of its issuer use. */
const roleHolderSchema = z.union([
  z.strictObject({ issuer: name, subject: name }),
  z.strictObject({ issuer: name, group: name }),
]);

/** A role for the whole control plane, for one policy (author, viewer) or for one model (applier, viewer). */
export const controlRightSchema = z
  .strictObject({
    role: z.enum(controlRoles),
    holder: roleHolderSchema,
    policyId: resourceIdSchema.optional(),
    modelId: resourceIdSchema.optional(),
  })
  .superRefine(({ role, policyId, modelId }, context) => {
    const allowed = policyId === undefined || role === 'author' || role === 'viewer';
    if (!allowed)
      context.addIssue({ code: 'custom', path: ['policyId'], message: 'can be used with author and viewer only' });
    if (modelId !== undefined && (policyId !== undefined || !(role === 'applier' || role === 'viewer'))) {
      context.addIssue({
        code: 'custom',
        path: ['modelId'],
        message: 'can be used with applier and viewer only, without policyId',
      });
    }
  });
export type ControlRight = z.output<typeof controlRightSchema>;

/** Response of GET /api/v1/rights. */
export const controlRightsSchema = z.strictObject({ items: z.array(controlRightSchema) });

/**
 * Response of GET /api/v1/own-rights: the current rights of the caller. The APIs still decide about each request
 * separately.
 */
export const ownRightsSchema = z.object({
  view: z.boolean().describe('Whether it may read policies, models and agents.'),
  author: z.boolean().describe('Whether it may write every policy and check definitions.'),
  apply: z.boolean().describe('Whether it may apply policies to every model.'),
  administer: z.boolean().describe('Whether it may read the audit log and change rights.'),
  policies: z
    .array(z.string())
    .readonly()
    .describe('Ids of single policies that it may write; with one it may also check definitions.'),
  models: z.array(z.string()).readonly().describe('Ids of single models that it may apply policies to.'),
  viewedPolicies: z
    .array(z.string())
    .readonly()
    .default([])
    .describe('Ids of single policies that it may read, also those that it may write.'),
  viewedModels: z
    .array(z.string())
    .readonly()
    .default([])
    .describe('Ids of single models that it may read, also those that it may apply policies to.'),
});
export type OwnRights = z.infer<typeof ownRightsSchema>;

/** Response of a change of a right. */
export const changedRightSchema = z.strictObject({
  right: controlRightSchema,
  changed: z.boolean().describe('Whether the right was changed; false if it was as asked before.'),
});
