import { isDeepStrictEqual } from 'node:util';
import { failure, success } from '#api/operation';
import { operationResource } from '../operations/command-record.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

/** How long an answer waits until a recorded revision appears in the lists of this process, milliseconds. */
const revisionSeenMs = 1_000;

/**
 * Answers with the state of a command. A caller without the right to read all operations may read those of its own
 * commands.
 */
export async function getOperation({ service, path, caller }: ManagementRequest): Promise<ManagementResponse> {
  const operationId = path('operationId');
  const { commands, caches } = service;
  const record = await commands.store.get(operationId);
  if (caller.ownOnly === true && !isDeepStrictEqual(record?.origin.author, caller.author)) {
    return failure('permission_denied');
  }
  if (record === undefined) return failure('operation_not_found');
  const { result, state, target } = record;
  if (state === 'running' && target.type === 'model') service.settling.lookAt(target.id);
  if (result !== undefined && 'revision' in result) {
    await caches.sawRevision(result.policyId, result.revision, revisionSeenMs);
  }
  return success(operationResource(record));
}
