import { z } from 'zod';
import type { Kind } from '#resources/kinds';
import { ApiRefusal, conflict, notFound } from './api-refusal.ts';
import { type WriteDecision, wholeSeconds } from './decide-create.ts';
import { decodeStoredObject, type StoredObject } from './stored-object.ts';

/** The supported members of DeleteOptions of meta/v1. */
const deleteOptionsSchema = z.looseObject({
  kind: z.literal('DeleteOptions').optional(),
  dryRun: z.array(z.string()).max(0).optional(),
  orphanDependents: z.literal(false).optional(),
  propagationPolicy: z.literal('Background').optional(),
  preconditions: z.strictObject({ uid: z.string().optional(), resourceVersion: z.string().optional() }).nullish(),
});
type DeleteOptions = z.infer<typeof deleteOptionsSchema>;

/** Parses the body of a DELETE; unsupported options are refused. */
export function readDeleteOptions(body: unknown): DeleteOptions {
  const parsed = deleteOptionsSchema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  throw new ApiRefusal('BadRequest', 'only deletion in the background with preconditions is served');
}

type DeleteInput = {
  readonly kind: Kind;
  readonly name: string;
  readonly options: DeleteOptions;
  readonly now: Date;
};

/** The effect of a DELETE: the object is removed, or marked while it has finalizers, which starts a new generation. */
export function decideDelete(input: DeleteInput, current: StoredObject | undefined): WriteDecision {
  const { kind, name, options, now } = input;
  if (current === undefined) throw notFound(kind, name);
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (uid !== undefined && uid !== current.metadata.uid) throw failed(kind, name, 'UID', uid, current.metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
    throw failed(kind, name, 'ResourceVersion', resourceVersion, current.metadata.resourceVersion);
  }
  const object = decodeStoredObject(current);
  if ((current.metadata.finalizers ?? []).length === 0) return { act: 'remove', object };
  if (current.metadata.deletionTimestamp !== undefined) return { act: 'keep' };
  const { labels, annotations, finalizers, ownerReferences, ...server } = object.metadata;
  const metadata = {
    ...server,
    generation: object.metadata.generation + 1,
    deletionTimestamp: wholeSeconds(now),
    deletionGracePeriodSeconds: 0,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
  return { act: 'put', object: { ...object, metadata } };
}

function failed(kind: Kind, name: string, what: string, wanted: string, is: string): ApiRefusal {
  return conflict(kind, name, `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${is}`);
}
