import { type ChangeNote, changeAuthorSchema, kubernetesUser } from '#resources/change-note';
import { appliedByAnnotation, writtenByAnnotation } from '#resources/kinds';

/** A symbol is in no JSON and no YAML, so that an object that is written back does not contain it. */
const lastManager = Symbol('field manager of the newest change of the spec');
const lastTime = Symbol('time of the newest change of the spec');
const writer = Symbol('user who wrote the spec');
const applier = Symbol('user who requested the newest application');

type SpecEntry = { readonly manager: string; readonly time: string };
const maxManagerLength = 128;

/** One string per manager, however many objects name it. */
const known = new Map<string, string>();
const maxKnown = 1_000;

type Authors = {
  readonly [lastManager]?: string;
  readonly [lastTime]?: string;
  readonly [writer]?: string;
  readonly [applier]?: string;
};

type Read = { readonly managedFields?: unknown; readonly annotations?: unknown };

/**
 * Returns the metadata without managedFields, which double its size; only the newest manager of the spec and its time are kept.
 * @param namesUsers whether the server sets the annotations of `author-rules.ts`: otherwise any user may have written them
 */
export function keepAuthors<M extends object>(metadata: M & Read, namesUsers: boolean): M {
  const { managedFields, ...rest } = metadata;
  const { manager, time } = newestChange(managedFields) ?? {};
  const annotations = (namesUsers ? metadata.annotations : undefined) as Readonly<Record<string, string>> | undefined;
  const authors: Authors = {
    ...(time === undefined ? {} : { [lastTime]: time }),
    ...(manager === undefined ? {} : { [lastManager]: manager }),
    ...userOf(annotations, writtenByAnnotation, writer),
    ...userOf(annotations, appliedByAnnotation, applier),
  };
  return { ...rest, ...authors } as unknown as M;
}

function userOf(
  annotations: Readonly<Record<string, string>> | undefined,
  name: string,
  member: typeof writer | typeof applier,
): Authors {
  const user = annotations?.[name];
  return user === undefined ? {} : { [member]: user };
}

/** The note of the newest change of the spec of an object as it was read. @param stated by its writer */
export function changeNote(metadata: object, stated?: ChangeNote): ChangeNote {
  return noteOf(metadata, (metadata as Authors)[writer], stated);
}

/** The note of the newest change of a ModelBinding that requests an application. @param stated by its writer */
export function applicationNote(metadata: object, stated?: ChangeNote): ChangeNote {
  return noteOf(metadata, (metadata as Authors)[applier], stated);
}

/** The author whom the API server names is true, so that no stated one replaces it, even where its name is unusable. */
function noteOf(metadata: object, user: string | undefined, stated: ChangeNote | undefined): ChangeNote {
  if (user === undefined) return stated ?? managerNote(metadata);
  const message = stated?.message;
  return { ...authorOf(kubernetesUser(user)), ...(message === undefined ? {} : { message }) };
}

/**
 * The field manager that last changed the spec; empty where the server records none, or two of the same second. It is the
 * name of a program, such as kubectl-client-side-apply, and proves no identity.
 */
function managerNote(metadata: object): ChangeNote {
  const manager = (metadata as Authors)[lastManager];
  return manager === undefined ? {} : authorOf(`${manager} (field manager)`);
}

function authorOf(name: string): ChangeNote {
  const author = changeAuthorSchema.safeParse(name);
  return author.success ? { author: author.data } : {};
}

/** When the spec of an object as it was read last changed, by the clock of the server: RFC 3339, undefined where it records none. */
export function changeTime(metadata: object): string | undefined {
  return (metadata as Authors)[lastTime];
}

/** Times are whole seconds: of two managers of the same second it is not known which one was last. */
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
