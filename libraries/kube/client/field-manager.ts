import { type ChangeNote, changeAuthorSchema } from '#resources/change-note';

/** A symbol is in no JSON and no YAML, so that an object that is written back does not contain it. */
const lastManager = Symbol('field manager of the newest change of the spec');
const lastTime = Symbol('time of the newest change of the spec');

type SpecEntry = { readonly manager: string; readonly time: string };
const maxManagerLength = 128;

/** Each manager's name is kept as one string, however many objects name the manager. */
const known = new Map<string, string>();
const maxKnown = 1_000;

/** Returns the metadata without managedFields, which double its size; only the newest manager of the spec and its time are kept. */
export function keepLastManager<M extends object>(metadata: M & { readonly managedFields?: unknown }): M {
  const { managedFields, ...rest } = metadata;
  const newest = newestChange(managedFields);
  if (newest === undefined) return rest as M;
  const { manager, time } = newest;
  return { ...rest, [lastTime]: time, ...(manager === undefined ? {} : { [lastManager]: manager }) } as unknown as M;
}

/**
 * The field manager that last changed the spec of an object as it was read, as the author of the change; empty if the
 * server records no manager, or two in the same second. A field manager is the name of a program, such as
 * kubectl-client-side-apply, and proves no identity.
 */
export function managerNote(metadata: object): ChangeNote {
  const manager = (metadata as { readonly [lastManager]?: string })[lastManager];
  const author = changeAuthorSchema.safeParse(manager === undefined ? undefined : `${manager} (field manager)`);
  return author.success ? { author: author.data } : {};
}

/**
 * The time of the last change of the spec of an object, by the clock of the server: RFC 3339; undefined if the server
 * records none.
 */
export function changeTime(metadata: object): string | undefined {
  return (metadata as { readonly [lastTime]?: string })[lastTime];
}

/** Times are whole seconds: if two managers changed the object in the same second, the order is not known. */
function newestChange(managedFields: unknown): { readonly manager?: string; readonly time: string } | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  let newest: SpecEntry | undefined;
  let isAlone = false;
  for (const entry of managedFields) {
    if (!isOfSpec(entry) || (newest !== undefined && entry.time < newest.time)) continue;
    isAlone = newest === undefined || entry.time > newest.time || (isAlone && entry.manager === newest.manager);
    newest = entry;
  }
  if (newest === undefined) return undefined;
  return { time: newest.time, ...(isAlone ? { manager: interned(newest.manager) } : {}) };
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
