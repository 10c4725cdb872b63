import type { ApiTable } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import { activityOperation, decisionCountsOperation } from './activity-operation.ts';
import { type ManagedAgentOperation, managedAgentOperationNames, managedAgentOperations } from './agent-operations.ts';
import { type ApprovalOperation, approvalOperationNames, approvalOperations } from './approval-operations.ts';
import { type AuditOperation, auditOperationNames, auditOperations } from './audit-operations.ts';
import { type DryRunOperation, dryRunOperationNames, dryRunOperations } from './dry-run-operations.ts';
import { type FreezeOperation, freezeOperationNames, freezeOperations } from './freeze-operations.ts';
import { listOperationsOperation } from './list-operations.ts';
import type { Management } from './management.ts';
import { type ManagementOperation, managementTable, operationNames } from './management-table.ts';
import { overviewOperation } from './overview-operation.ts';
import { ownRightsOperation } from './own-rights-operation.ts';
import { policyCheckOperation } from './policy-check-operation.ts';
import { providerTestOperation } from './provider-test-operation.ts';
import { purgeOperation } from './purge-operation.ts';
import { type ResourceOperation, resourceOperationNames, resourceOperations } from './resource-operations.ts';
import { revisionDiffOperation } from './revision-diff-operation.ts';
import { type RightsOperation, rightsOperationNames, rightsOperations } from './rights-operations.ts';

export const servedOperationNames = [
  ...operationNames,
  ...resourceOperationNames,
  ...managedAgentOperationNames,
  activityOperation.name,
  decisionCountsOperation.name,
  overviewOperation.name,
  ownRightsOperation.name,
  policyCheckOperation.name,
  providerTestOperation.name,
  ...auditOperationNames,
  ...rightsOperationNames,
  ...dryRunOperationNames,
  revisionDiffOperation.name,
  purgeOperation.name,
  ...approvalOperationNames,
  ...freezeOperationNames,
  listOperationsOperation.name,
] as const;
export type ServedOperation =
  | ManagementOperation
  | ResourceOperation
  | ManagedAgentOperation
  | typeof activityOperation.name
  | typeof decisionCountsOperation.name
  | typeof overviewOperation.name
  | typeof ownRightsOperation.name
  | typeof policyCheckOperation.name
  | typeof providerTestOperation.name
  | AuditOperation
  | RightsOperation
  | DryRunOperation
  | typeof revisionDiffOperation.name
  | typeof purgeOperation.name
  | ApprovalOperation
  | FreezeOperation
  | typeof listOperationsOperation.name;

/** Every operation of the service: those of the contract, and the service's own reads of resources, agents, decisions, operations and audit entries. */
export const servedTable: ApiTable<Management, ManagementCaller, ManagementErrorCode, ServedOperation> = {
  ...managementTable,
  operations: [
    ...managementTable.operations,
    ...resourceOperations,
    ...managedAgentOperations,
    activityOperation,
    decisionCountsOperation,
    overviewOperation,
    ownRightsOperation,
    policyCheckOperation,
    providerTestOperation,
    ...auditOperations,
    ...rightsOperations,
    ...dryRunOperations,
    revisionDiffOperation,
    purgeOperation,
    ...approvalOperations,
    ...freezeOperations,
    listOperationsOperation,
  ],
};
