import { z } from 'zod';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import {
  apiVersion,
  confirmDeletionAnnotation,
  createdAnnotation,
  idLabel,
  keepAnnotation,
  kinds,
  operatorFinalizer,
  restoreMark,
} from '#resources/kinds';
import type { Metadata, Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';

const mapSchema = z.record(z.string(), z.string());
const markSchema = z.strictObject({ uid: z.string().min(1), labels: mapSchema, annotations: mapSchema });

/** The parts of a restored policy that its revision does not contain. */
type RestoreMark = z.infer<typeof markSchema>;

/**
 * Annotations that are not restored: the annotation of the deletion, and the copy of kubectl, which doubles the size of
 * the policy and which the next apply writes again.
 */
const dropped: ReadonlySet<string> = new Set([
  keepAnnotation,
  confirmDeletionAnnotation,
  'kubectl.kubernetes.io/last-applied-configuration',
]);
/** Characters of kept annotations as JSON; all annotations of an object together hold 262,144 bytes. */
const maxKept = 65_536;

/**
 * Labels and annotations of the user, and the time of the first creation. Owners are not kept: they may no longer
 * exist.
 */
export function keptMetadata(metadata: Stored<GuardrailPolicy>['metadata']): Omit<RestoreMark, 'uid'> {
  const { labels = {}, annotations = {}, creationTimestamp } = metadata;
  const kept: Record<string, string> = { [createdAnnotation]: annotations[createdAnnotation] ?? creationTimestamp };
  let left = maxKept;
  for (const [name, value] of Object.entries(annotations).toSorted(([, a], [, b]) => a.length - b.length)) {
    left -= JSON.stringify([name, value]).length;
    if (left >= 0 && !dropped.has(name)) kept[name] = value;
  }
  return { labels, annotations: kept };
}

export function writeMark(mark: RestoreMark): string {
  return JSON.stringify(mark);
}

/** The mark of a revision; undefined for a revision without a mark, or with a mark that this operator did not write. */
export function readMark({ metadata }: PolicyRevision): RestoreMark | undefined {
  const text = metadata.annotations?.[restoreMark];
  if (text === undefined || metadata.labels?.[restoreMark] === undefined) return undefined;
  try {
    return markSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The policy that a marked revision records, as it was, under its name and id. */
export function restoredPolicy(revision: PolicyRevision): GuardrailPolicy {
  // All remaining members of the revision are content of the policy, so that members of future releases are restored,
  // too.
  const {
    policyId,
    policy,
    token,
    definition,
    tests,
    number: _number,
    author: _author,
    message: _message,
    purgeTime: _purgeTime,
    ...rest
  } = revision.spec;
  const { definitionDigest: _digest, ruleCount: _count, ruleKinds: _kinds, ...content } = rest;
  const { labels, annotations } = readMark(revision) ?? { labels: {}, annotations: {} };
  const metadata: Metadata = {
    name: policy.name,
    labels: { ...labels, [idLabel]: policyId },
    annotations,
    finalizers: [operatorFinalizer],
  };
  return {
    apiVersion,
    kind: kinds.guardrailPolicy.kind,
    metadata,
    spec: {
      ...content,
      definition: JSON.parse(definition) as GuardrailPolicy['spec']['definition'],
      ...(tests.length === 0 ? {} : { tests }),
      ...(token === '' ? {} : { change: token }),
    },
  };
}
