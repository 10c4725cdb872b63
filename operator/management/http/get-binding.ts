import { failure, success } from '#api/operation';
import { bindingRead } from '../models/binding-state.ts';
import { etagOf } from './etag.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

/** Desired and observed state of the binding of a model, with the ETag of the model. */
export async function getBinding({ service, path }: ManagementRequest): Promise<ManagementResponse> {
  const modelId = path('modelId');
  const binding = await service.models.find(modelId);
  if (binding === undefined) return failure('model_not_found');
  const { uid, generation } = binding.metadata;
  const [snapshot, cause] = await Promise.all([
    service.models.snapshot(modelId, binding),
    service.models.explain(binding),
  ]);
  const body = bindingRead(snapshot, cause);
  return success(body, { etag: etagOf({ type: 'model', id: modelId, uid, generation }) });
}
