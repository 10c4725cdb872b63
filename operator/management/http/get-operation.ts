import { operationResource } from '../operations/operation.ts';
import { settleOnModel } from '../operations/settle-models.ts';
import type { Exchange } from './exchange.ts';
import { readPathId } from './path-ids.ts';
import { ok, type Reply, refuse } from './reply.ts';

/** Whoever is told that a revision was recorded finds it in the lists of this process after so long, milliseconds. */
const seenWithinMs = 1_000;

/** GET /api/v1/operations/{operationId}: how far a command got. */
export async function getOperation({ management, path }: Exchange): Promise<Reply> {
  const operationId = readPathId(path['operationId']);
  if (operationId === undefined) return refuse('invalid_path_id');
  const { commands, models, caches } = management;
  const { store, advance } = commands;
  const open = await store.getOpen(operationId);
  if (open?.accepted === true && open.target.type === 'model') await settleOnModel(store, models, open);
  if (open?.accepted === true && open.target.type === 'policy' && open.written !== undefined) {
    await advance(open, open.written);
  }
  const operation = await store.get(operationId);
  if (operation === undefined) return refuse('operation_not_found');
  const { result } = operation;
  if (result !== undefined && 'revision' in result) {
    await caches.sawRevision(result.policyId, result.revision, seenWithinMs);
  }
  return ok(operationResource(operation));
}
