import { z } from 'zod';
import { type ChangeNote, changeAuthorSchema } from '#resources/change-note';

/** A symbol is in no JSON and no YAML, so that an object that is written back does not contain it. */
const lastManager = Symbol('field manager of the newest change of the spec');

const entrySchema = z.looseObject({
  manager: z.string().min(1).max(128),
  time: z.string(),
  subresource: z.string().optional(),
  fieldsV1: z.looseObject({ 'f:spec': z.unknown().optional() }),
});

/** One string per manager, however many objects name it. */
const known = new Map<string, string>();
const maxKnown = 1_000;

/** Returns the metadata without managedFields, which double its size; only the newest manager of the spec is kept. */
export function keepLastManager<M extends object>(metadata: M & { readonly managedFields?: unknown }): M {
  const { managedFields, ...rest } = metadata;
  const manager = newestManager(managedFields);
  return (manager === undefined ? rest : { ...rest, [lastManager]: manager }) as M;
}

/**
 * The field manager that last changed the spec of an object as it was read, as the author of the change; empty where
 * the server records none. It is the name of a program, such as kubectl-client-side-apply, and proves no identity.
 */
export function managerNote(metadata: object): ChangeNote {
  const manager = (metadata as { readonly [lastManager]?: string })[lastManager];
  const author = changeAuthorSchema.safeParse(manager === undefined ? undefined : `${manager} (field manager)`);
  return author.success ? { author: author.data } : {};
}

function newestManager(managedFields: unknown): string | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  let newest: { readonly manager: string; readonly time: string } | undefined;
  for (const entry of managedFields) {
    if (!isOfSpec(entry)) continue;
    if (newest === undefined || entry.time >= newest.time) newest = entry;
  }
  return newest === undefined ? undefined : interned(newest.manager);
}

function isOfSpec(entry: unknown): entry is z.output<typeof entrySchema> {
  const read = entrySchema.safeParse(entry);
  return read.success && read.data.subresource === undefined && 'f:spec' in read.data.fieldsV1;
}

function interned(manager: string): string {
  const found = known.get(manager);
  if (found !== undefined) return found;
  if (known.size < maxKnown) known.set(manager, manager);
  return manager;
}
