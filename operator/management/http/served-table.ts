import type { ApiTable } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import { activityOperation, decisionCountsOperation } from './activity-operation.ts';
import { managedAgentOperationNames, managedAgentOperations } from './agent-operations.ts';
import { approvalOperationNames, approvalOperations } from './approval-operations.ts';
import { auditOperationNames, auditOperations } from './audit-operations.ts';
import { dryRunOperationNames, dryRunOperations } from './dry-run-operations.ts';
import { freezeOperationNames, freezeOperations } from './freeze-operations.ts';
import { listOperationsOperation } from './list-operations.ts';
import type { Management } from './management.ts';
import { managementTable, operationNames } from './management-table.ts';
import { overviewOperation } from './overview-operation.ts';
import { ownRightsOperation } from './own-rights-operation.ts';
import { policyCheckOperation } from './policy-check-operation.ts';
import { policyHistoryOperation } from './policy-history-operation.ts';
import { providerTestOperation } from './provider-test-operation.ts';
import { purgeOperation } from './purge-operation.ts';
import { resourceOperationNames, resourceOperations } from './resource-operations.ts';
import { revisionDiffOperation } from './revision-diff-operation.ts';
import { rightsOperationNames, rightsOperations } from './rights-operations.ts';

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
  policyHistoryOperation.name,
  purgeOperation.name,
  ...approvalOperationNames,
  ...freezeOperationNames,
  listOperationsOperation.name,
] as const;
export type ServedOperation = (typeof servedOperationNames)[number];

/** The operations of the document of the control plane, outside of the contract of policies. */
export const controlOperations = [
  ...auditOperations,
  ...rightsOperations,
  ...dryRunOperations,
  revisionDiffOperation,
  policyHistoryOperation,
  purgeOperation,
  ...approvalOperations,
  ...freezeOperations,
  listOperationsOperation,
] as const;

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
    ...controlOperations,
  ],
};
