import { createdAnnotation, type Kind, kinds, operatorFinalizer } from '#resources/kinds';
import type { Metadata, Resource, Stored } from '#resources/metadata';
import type { ModelBindingStatus } from '#resources/model-binding';

/** The kinds of a backup in the order in which they are restored (DESIGN section 10): history comes first. */
export const backupKinds: readonly Kind[] = [
  kinds.policyRevision,
  kinds.guardrailPolicy,
  kinds.modelBinding,
  kinds.runtimeWorkload,
  kinds.gatewayRoute,
];

/**
 * What a backup keeps of an object: nothing that the server of elsewhere sets anew, no owner, and of the status only
 * what cannot be observed again, which is what became of the newest applications of a binding.
 */
export function backupObject({ apiVersion, kind, metadata, spec, status }: Stored<Resource>): Resource {
  const lasting = kind === kinds.modelBinding.kind ? lastingStatus(status as ModelBindingStatus | undefined) : {};
  return {
    apiVersion,
    kind,
    metadata: lastingMetadata(metadata),
    spec,
    ...(Object.keys(lasting).length === 0 ? {} : { status: lasting }),
  };
}

/** An object that is going and that nothing of ours holds is gone for a backup. */
export function isKept({ metadata }: Stored<Resource>): boolean {
  return metadata.deletionTimestamp === undefined || isHeld(metadata);
}

function lastingMetadata(metadata: Stored<Resource>['metadata']): Metadata {
  const { name, labels, deletionTimestamp } = metadata;
  const annotations = { [createdAnnotation]: metadata.creationTimestamp, ...metadata.annotations };
  return {
    name,
    ...(labels === undefined ? {} : { labels }),
    annotations,
    ...(isHeld(metadata) ? { finalizers: [operatorFinalizer] } : {}),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
}

function isHeld({ finalizers = [] }: Metadata): boolean {
  return finalizers.includes(operatorFinalizer);
}

function lastingStatus(status: ModelBindingStatus | undefined): ModelBindingStatus {
  const { pinned, applications } = status ?? {};
  return { ...(pinned === undefined ? {} : { pinned }), ...(applications === undefined ? {} : { applications }) };
}
