import type { Metadata } from '#resources/metadata';
import type { FieldProblem } from '../client/kube-error.ts';

const maxAnnotationBytes = 262_144;

/** Members of ObjectMeta that a client may send. */
const knownMembers: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
]);

const namePart = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const prefixPart = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

/** Violations of the rules of the API server for metadata that the schema does not express. */
export function metadataProblems(metadata: Metadata): readonly FieldProblem[] {
  return [
    ...Object.keys(metadata)
      .filter((member) => !knownMembers.has(member))
      .map((member) => ({ field: `metadata.${member}`, message: 'is an unknown field' })),
    ...Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => labelProblems(key, value)),
    ...annotationProblems(metadata.annotations ?? {}),
    ...(metadata.finalizers ?? [])
      .filter((finalizer) => !isQualifiedName(finalizer))
      .map(() => ({ field: 'metadata.finalizers', message: 'a finalizer must be a qualified name' })),
    ...ownerProblems(metadata.ownerReferences ?? []),
  ];
}

function labelProblems(key: string, value: string): readonly FieldProblem[] {
  const field = `metadata.labels[${key}]`;
  return [
    ...(isQualifiedName(key) ? [] : [{ field, message: 'the key must be a qualified name' }]),
    ...(labelValue.test(value)
      ? []
      : [{ field, message: 'a label is at most 63 letters, digits, "-", "_" and "." between letters or digits' }]),
  ];
}

function annotationProblems(annotations: Readonly<Record<string, string>>): readonly FieldProblem[] {
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + key.length + Buffer.byteLength(value),
    0,
  );
  return [
    ...Object.keys(annotations)
      .filter((key) => !isQualifiedName(key.toLowerCase()))
      .map((key) => ({ field: `metadata.annotations[${key}]`, message: 'the key must be a qualified name' })),
    ...(bytes > maxAnnotationBytes
      ? [{ field: 'metadata.annotations', message: `all annotations together exceed ${maxAnnotationBytes} bytes` }]
      : []),
  ];
}

function ownerProblems(owners: NonNullable<Metadata['ownerReferences']>): readonly FieldProblem[] {
  return owners.flatMap((owner, index) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((member) => owner[member] === '')
      .map((member) => ({ field: `metadata.ownerReferences[${index}].${member}`, message: 'must not be empty' })),
  );
}

/** `name` or `prefix/name`, where the prefix is a DNS name (Kubernetes qualified name). */
function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return namePart.test(text);
  const prefix = text.slice(0, slash);
  return prefix.length <= 253 && prefixPart.test(prefix) && namePart.test(text.slice(slash + 1));
}
