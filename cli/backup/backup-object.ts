import {
  appliedByAnnotation,
  createdAnnotation,
  type Kind,
  kinds,
  operatorFinalizer,
  restoredUidAnnotation,
  writtenByAnnotation,
} from '#resources/kinds';
import type { Metadata, Resource, Stored } from '#resources/metadata';
import type { ModelBindingStatus } from '#resources/model-binding';

/** The kinds of a backup in restore order: revisions are first, because the other kinds refer to them. */
export const backupKinds: readonly Kind[] = [
  kinds.policyRevision,
  kinds.guardrailPolicy,
  kinds.modelBinding,
  kinds.collection,
  kinds.runtimeWorkload,
  kinds.gatewayRoute,
];

/**
 * The part of an object that a backup holds: no field that another server sets again, no owner, and of the status only
 * the records of a binding's newest applications, which cannot be observed again.
 */
export function backupObject({ apiVersion, kind, metadata, spec, status }: Stored<Resource>): Resource {
  const lasting = kind === kinds.modelBinding.kind ? lastingStatus(status as ModelBindingStatus | undefined) : {};
  return {
    apiVersion,
    kind,
    metadata: lastingMetadata(kind, metadata),
    spec,
    ...(Object.keys(lasting).length === 0 ? {} : { status: lasting }),
  };
}

/** An object under deletion is kept only while the operator's finalizer holds it. */
export function isKept({ metadata }: Stored<Resource>): boolean {
  return metadata.deletionTimestamp === undefined || isHeld(metadata);
}

function lastingMetadata(kind: string, metadata: Stored<Resource>['metadata']): Metadata {
  const { name, labels, deletionTimestamp } = metadata;
  // The server of a restore names the user who restores; another server has no such name.
  const { [writtenByAnnotation]: _writer, [appliedByAnnotation]: _applier, ...others } = metadata.annotations ?? {};
  const annotations = {
    [createdAnnotation]: metadata.creationTimestamp,
    // The service identifies the collection by this UID; the restored resource gets a new UID.
    ...(kind === kinds.collection.kind ? { [restoredUidAnnotation]: metadata.uid } : {}),
    ...others,
  };
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
