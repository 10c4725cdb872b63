import type { Kind } from '#resources/kinds';
import { ApiRefusal } from './api-refusal.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoredObject } from './stored-object.ts';

const maxSnapshots = 16;
const maxAgeMs = 300_000;
/** Largest size of a page in bytes, below its limit of objects. */
const maxPageBytes = 8_388_608;

type Snapshot = { readonly version: number; readonly objects: readonly StoredObject[]; readonly at: number };

export type Page = {
  readonly objects: readonly StoredObject[];
  /** Version of the whole list, which is the same on all of its pages. */
  readonly version: number;
  readonly continue: string | undefined;
  /** Objects after this page; unknown for a selection. */
  readonly remaining: number | undefined;
};

type PageQuery = {
  readonly kind: Kind;
  /** Maximum number of objects on a page; 0 for no limit. */
  readonly limit: number;
  readonly token: string | undefined;
  /** Selects the objects of the list; every object is selected when absent. */
  readonly matches: ((object: StoredObject) => boolean) | undefined;
};

/** Pages of consistent lists: for a limited time, later pages show the state at the time of the first page. */
export type ListSnapshots = { page(query: PageQuery): Page };

/** Keeps only lists that have a next page. */
export function createListSnapshots(store: ResourceStore, now: () => number): ListSnapshots {
  const held = new Map<string, Snapshot>();

  function forgetOld(): void {
    for (const [key, snapshot] of held) {
      if (held.size > maxSnapshots || now() - snapshot.at > maxAgeMs) held.delete(key);
    }
  }

  return {
    page({ kind, limit, token, matches }) {
      forgetOld();
      const position = token === undefined ? undefined : readToken(token);
      const snapshot =
        position === undefined
          ? { version: store.version(), objects: store.list(kind), at: now() }
          : held.get(`${kind.plural}@${position.version}`);
      if (snapshot === undefined) {
        throw new ApiRefusal(
          'Expired',
          'The provided continue parameter is too old to display a consistent list result',
        );
      }
      const start = position?.start ?? 0;
      const { objects, end } = cut(snapshot.objects, start, limit, matches);
      if (end >= snapshot.objects.length) {
        return { objects, version: snapshot.version, continue: undefined, remaining: undefined };
      }
      held.set(`${kind.plural}@${snapshot.version}`, snapshot);
      return {
        objects,
        version: snapshot.version,
        continue: writeToken({ version: snapshot.version, start: end }),
        remaining: matches === undefined ? snapshot.objects.length - end : undefined,
      };
    },
  };
}

function cut(
  all: readonly StoredObject[],
  start: number,
  limit: number,
  matches: PageQuery['matches'],
): { readonly objects: readonly StoredObject[]; readonly end: number } {
  if (limit === 0) return { objects: all.slice(start).filter(matches ?? everything), end: all.length };
  const objects: StoredObject[] = [];
  let bytes = 0;
  let end = start;
  for (; end < all.length && objects.length < limit && bytes < maxPageBytes; end += 1) {
    const object = all[end];
    if (object === undefined || matches?.(object) === false) continue;
    objects.push(object);
    bytes += object.bytes.length;
  }
  return { objects, end };
}

function everything(): boolean {
  return true;
}

type Token = { readonly version: number; readonly start: number };

function writeToken(token: Token): string {
  return Buffer.from(`${token.version}.${token.start}`).toString('base64url');
}

function readToken(text: string): Token {
  const found = /^([0-9]{1,15})\.([0-9]{1,9})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (found === null) throw new ApiRefusal('BadRequest', 'the continue parameter is not valid');
  return { version: Number(found[1]), start: Number(found[2]) };
}
