import { etagOf } from '../etag.ts';
import { bindingRead } from '../models/binding-state.ts';
import type { Exchange } from './exchange.ts';
import { readPathId } from './path-ids.ts';
import { ok, type Reply, refuse } from './reply.ts';

/** GET /api/v1/models/{modelId}/guardrail-binding: what is wanted and what is observed, with the ETag of the model. */
export async function getBinding({ management, path }: Exchange): Promise<Reply> {
  const modelId = readPathId(path['modelId']);
  if (modelId === undefined) return refuse('invalid_path_id');
  const binding = await management.models.find(modelId);
  if (binding === undefined) return refuse('model_not_found');
  const { uid, generation } = binding.metadata;
  const body = bindingRead(await management.models.snapshot(modelId, binding));
  return ok(body, { etag: etagOf({ type: 'model', id: modelId, uid, generation }) });
}
