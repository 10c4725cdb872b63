import { failure, success } from '#api/operation';
import { operationResource } from '../operations/command-record.ts';
import { settleOnModel } from '../operations/settle-models.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

/** How long the answer waits for a recorded revision to appear in the lists of this process, milliseconds. */
const revisionSeenMs = 1_000;

/**
 * The state of a command. An operation in progress is advanced first, so that the client does not wait for a background
 * loop.
 */
export async function getOperation({ service, path }: ManagementRequest): Promise<ManagementResponse> {
  const operationId = path('operationId');
  const { commands, models, caches } = service;
  const { store, advance } = commands;
  const open = await store.getOpen(operationId);
  if (open?.accepted === true && open.target.type === 'model') await settleOnModel(store, models, open);
  if (open?.accepted === true && open.target.type === 'policy' && open.written !== undefined) {
    await advance(open, open.written);
  }
  const record = await store.get(operationId);
  if (record === undefined) return failure('operation_not_found');
  const { result } = record;
  if (result !== undefined && 'revision' in result) {
    await caches.sawRevision(result.policyId, result.revision, revisionSeenMs);
  }
  return success(operationResource(record));
}
