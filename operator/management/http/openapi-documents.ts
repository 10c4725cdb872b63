import { componentSchemas, openApiDocument, openApiPaths } from '#api/openapi';
import {
  approvalRuleSchema,
  approvalRulesSchema,
  approvalSchema,
  approvalsSchema,
  changedApprovalRuleSchema,
} from '#contracts/approvals';
import { auditChainsSchema, auditPageSchema } from '#contracts/audit';
import { dryRunResultSchema } from '#contracts/dry-run';
import { freezeSchema, freezesSchema, newFreezeSchema } from '#contracts/freezes';
import {
  bindingWriteSchema,
  managementContract,
  managementErrorSchema,
  policyCreateSchema,
  policyReplaceSchema,
} from '#contracts/management';
import { operationPageSchema } from '#contracts/operations';
import { definitionSchema, sectionSchema } from '#contracts/policy';
import { policyHistorySchema } from '#contracts/policy-history';
import { revisionDiffSchema } from '#contracts/revision-diff';
import { revisionPurgeSchema } from '#contracts/revision-purge';
import { changedRightSchema, controlRightSchema, controlRightsSchema } from '#contracts/rights';
import { bodySchemas } from './body-schemas.ts';
import { managementTable } from './management-table.ts';
import { controlOperations } from './served-table.ts';

/** The management routes have a separate document (management:schema:routes-excluded). */
export const managementDocumentPath = '/api/v1/guardrail-management/openapi.json';
export const commonDocumentPath = '/openapi.json';

const platformToken = 'The platform token of a subject with control_plane:control-plane#administer.';

/** The OpenAPI document of the contract platform.control-plane.guardrail-management/v1 (management:version:contract). */
export function managementDocument(): unknown {
  return openApiDocument({
    title: 'Guardrail policy management',
    version: managementContract,
    summary: 'Policies, their history, and their application to models.',
    description:
      'Saving a policy creates a version and enables nothing. Applying a version to a model is a separate command. ' +
      'Commands answer 202 with an operation: wait until it is final, then read the resource again.',
    server: 'The control plane.',
    tags: [
      { name: 'Models', description: 'The guardrail bindings of models.' },
      { name: 'Operations', description: 'Commands and their states.' },
      { name: 'Policies', description: 'Policies and their versions.' },
      { name: 'Providers', description: 'Approved external checks.' },
    ],
    paths: openApiPaths(managementTable),
    token: platformToken,
    headers: {
      ETag: {
        description: 'Strong ETag for If-Match. It changes with the desired state only, not with observations.',
        schema: { type: 'string' },
      },
      Location: { description: 'The address of the operation.', schema: { type: 'string', format: 'uri-reference' } },
    },
    schemas: bodySchemas(),
  });
}

/** The OpenAPI document of the other routes of the control plane. */
export function commonDocument(): unknown {
  const document = (path: string, summary: string, operationId: string) => ({
    get: {
      operationId,
      summary,
      description: 'An OpenAPI 3.1 document.',
      tags: ['Documents'],
      security: [],
      responses: {
        '200': {
          description: 'The document.',
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        '405': { description: `${path} answers to GET alone.` },
      },
    },
  });
  return openApiDocument({
    title: 'Portcullis control plane',
    version: '1',
    summary: 'Endpoints of the control plane outside of its contracts.',
    description: `Contracts have separate documents: ${managementDocumentPath}.`,
    server: 'The control plane.',
    tags: [
      { name: 'Approvals', description: 'Commands that a second person approves.' },
      { name: 'Audit', description: 'The audit log: changes and refusals.' },
      { name: 'Differences', description: 'Versions of a policy, compared.' },
      { name: 'Documents', description: 'Descriptions of interfaces.' },
      { name: 'Dry runs', description: 'Commands that are checked and not executed.' },
      { name: 'Freezes', description: 'Windows in which commands are refused.' },
      { name: 'Histories', description: 'Versions of a policy with their authors.' },
      { name: 'Operations', description: 'Commands with their authors and outcomes.' },
      { name: 'Purges', description: 'Removal of a text that a version must not contain.' },
      { name: 'Rights', description: 'The roles on the control plane and their holders.' },
    ],
    token: platformToken,
    schemas: componentSchemas({
      written: {
        ControlRight: controlRightSchema,
        ApprovalRule: approvalRuleSchema,
        NewFreeze: newFreezeSchema,
        PolicyCreate: policyCreateSchema,
        PolicyReplace: policyReplaceSchema,
        BindingWrite: bindingWriteSchema,
        Definition: definitionSchema,
        Section: sectionSchema,
      },
      read: {
        AuditPage: auditPageSchema,
        AuditChains: auditChainsSchema,
        ControlRights: controlRightsSchema,
        ChangedRight: changedRightSchema,
        DryRunResult: dryRunResultSchema,
        RevisionDiff: revisionDiffSchema,
        PolicyHistory: policyHistorySchema,
        RevisionPurge: revisionPurgeSchema,
        Approval: approvalSchema,
        Approvals: approvalsSchema,
        ApprovalRules: approvalRulesSchema,
        ChangedApprovalRule: changedApprovalRuleSchema,
        Freeze: freezeSchema,
        Freezes: freezesSchema,
        OperationPage: operationPageSchema,
        Error: managementErrorSchema,
      },
    }),
    paths: {
      ...openApiPaths({
        ...managementTable,
        operations: controlOperations,
      }),
      [commonDocumentPath]: document(commonDocumentPath, 'Read this document', 'getCommonDocument'),
      [managementDocumentPath]: document(
        managementDocumentPath,
        'Read the document of the policy management API',
        'getManagementDocument',
      ),
    },
  });
}
