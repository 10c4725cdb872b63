import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

const reason = 'AliasConflict';

/** Whether a condition of the binding names the binding that has its alias. */
export function namesOwner({ status }: Pick<ModelBinding, 'status'>): boolean {
  return status?.conditions?.some((one) => one.reason === reason) === true;
}

/** The binding for a caller that may read only some models: its conditions do not name another one that has its alias. */
export function withoutOwner(binding: Stored<ModelBinding>): Stored<ModelBinding> {
  const { status, spec } = binding;
  if (status?.conditions === undefined || !namesOwner(binding)) return binding;
  const { alias } = spec.model;
  const message = `the alias ${alias} of gateway ${spec.gateway} belongs to another binding`;
  const conditions = status.conditions.map((one) => (one.reason === reason ? { ...one, message } : one));
  return { ...binding, status: { ...status, conditions } };
}
