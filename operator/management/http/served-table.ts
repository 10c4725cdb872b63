import type { ApiTable } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { activityOperation } from './activity-operation.ts';
import type { Management } from './management.ts';
import { type ManagementOperation, managementTable, operationNames } from './management-table.ts';
import { providerTestOperation } from './provider-test-operation.ts';
import { type ResourceOperation, resourceOperationNames, resourceOperations } from './resource-operations.ts';

export const servedOperationNames = [
  ...operationNames,
  ...resourceOperationNames,
  activityOperation.name,
  providerTestOperation.name,
] as const;
export type ServedOperation =
  | ManagementOperation
  | ResourceOperation
  | typeof activityOperation.name
  | typeof providerTestOperation.name;

/** Every operation of the service: those of the contract, and the service's own reads of resources and decisions. */
export const servedTable: ApiTable<Management, string, ManagementErrorCode, ServedOperation> = {
  ...managementTable,
  operations: [...managementTable.operations, ...resourceOperations, activityOperation, providerTestOperation],
};
