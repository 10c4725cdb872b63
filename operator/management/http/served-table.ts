import type { ApiTable } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { Management } from './management.ts';
import { type ManagementOperation, managementTable, operationNames } from './management-table.ts';
import { type ResourceOperation, resourceOperationNames, resourceOperations } from './resource-operations.ts';

export const servedOperationNames = [...operationNames, ...resourceOperationNames] as const;
export type ServedOperation = ManagementOperation | ResourceOperation;

/** Every operation of the service: those of the contract, and the reads of resources beside it. */
export const servedTable: ApiTable<Management, string, ManagementErrorCode, ServedOperation> = {
  ...managementTable,
  operations: [...managementTable.operations, ...resourceOperations],
};
