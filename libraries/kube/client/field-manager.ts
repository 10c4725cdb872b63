import { type ChangeNote, changeAuthorSchema } from '#resources/change-note';

/** A symbol is in no JSON and no YAML, so that an object that is written back does not contain it. */
const lastManager = Symbol('field manager of the newest change of the spec');

type SpecEntry = { readonly manager: string; readonly time: string };
const maxManagerLength = 128;

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
 * the server records none, or two of the same second. It is the name of a program, such as kubectl-client-side-apply, and proves no identity.
 */
export function managerNote(metadata: object): ChangeNote {
  const manager = (metadata as { readonly [lastManager]?: string })[lastManager];
  const author = changeAuthorSchema.safeParse(manager === undefined ? undefined : `${manager} (field manager)`);
  return author.success ? { author: author.data } : {};
}

/** Times are whole seconds: of two managers of the same second it is not known which one was last. */
function newestManager(managedFields: unknown): string | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  let newest: SpecEntry | undefined;
  let isAlone = false;
  for (const entry of managedFields) {
    if (!isOfSpec(entry) || (newest !== undefined && entry.time < newest.time)) continue;
    isAlone = newest === undefined || entry.time > newest.time || (isAlone && entry.manager === newest.manager);
    newest = entry;
  }
  return newest === undefined || !isAlone ? undefined : interned(newest.manager);
}

/** Runs for each entry of each object of a watch, so it checks members instead of parsing a schema. */
function isOfSpec(entry: unknown): entry is SpecEntry {
  if (typeof entry !== 'object' || entry === null) return false;
  const { manager, time, subresource, fieldsV1 } = entry as Readonly<Record<string, unknown>>;
  const isNamed = typeof manager === 'string' && manager !== '' && manager.length <= maxManagerLength;
  if (!isNamed || typeof time !== 'string' || subresource !== undefined) return false;
  return typeof fieldsV1 === 'object' && fieldsV1 !== null && 'f:spec' in fieldsV1;
}

function interned(manager: string): string {
  const found = known.get(manager);
  if (found !== undefined) return found;
  if (known.size < maxKnown) known.set(manager, manager);
  return manager;
}
