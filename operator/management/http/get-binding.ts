import { failure, success } from '#api/operation';
import { roleRight } from '../access/required-right.ts';
import { bindingRead } from '../models/binding-state.ts';
import { namesOwner, withoutOwner } from '../models/without-owner.ts';
import { etagOf } from './etag.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

/** Desired and observed state of the binding of a model, with the ETag of the model. */
export async function getBinding({ service, path, caller }: ManagementRequest): Promise<ManagementResponse> {
  const modelId = path('modelId');
  const binding = await service.models.find(modelId);
  if (binding === undefined) return failure('model_not_found');
  const { uid, generation } = binding.metadata;
  // The name of another binding is for those who may read every model.
  const isHidden = namesOwner(binding) && !(await service.commands.rights.has(caller, roleRight('viewer')));
  const [snapshot, cause] = await Promise.all([
    service.models.snapshot(modelId, binding),
    service.models.explain(isHidden ? withoutOwner(binding) : binding),
  ]);
  const body = bindingRead(snapshot, cause);
  return success(body, { etag: etagOf({ type: 'model', id: modelId, uid, generation }) });
}
