/**
 * Returns ids of a sorted list without duplicates, starting at one id: at most `limit` ids, and fewer only at the end
 * of the list.
 */
export type IdList = (window: IdWindow) => Promise<readonly string[]>;

export type IdWindow = {
  readonly from: string;
  /** The last id that may be returned; absent for the last of the list. */
  readonly to?: string;
  readonly limit: number;
};

/** A part of a list; `next` is the first id after it, undefined at the end of the list. */
type IdPart = { readonly ids: readonly string[]; readonly next: string | undefined };

/**
 * The next ids that occur in all lists. Where one list has a gap, the other lists are not read, so that the cost
 * depends on the shortest list.
 * @param limit at least 1
 */
export async function commonIds(lists: readonly IdList[], { from, limit }: IdWindow): Promise<IdPart> {
  const [only] = lists;
  if (lists.length === 1 && only !== undefined) {
    const ids = await only({ from, limit: limit + 1 });
    return ids.length <= limit ? { ids, next: undefined } : { ids: ids.slice(0, limit), next: ids[limit] };
  }
  const found: string[] = [];
  const size = limit + 1;
  for (let start: string | undefined = from; start !== undefined && found.length <= limit; ) {
    const at: string = start;
    const parts = await Promise.all(lists.map((next) => next({ from: at, limit: size })));
    const { ids, next } = join(parts, size);
    const last = found.at(-1);
    found.push(...(last === undefined ? ids : ids.filter((id) => id > last)));
    start = next;
  }
  return { ids: found.slice(0, limit), next: found[limit] };
}

/** The ids of all parts, and where the next parts must begin: at the last known id or after a gap. */
function join(parts: readonly (readonly string[])[], size: number): IdPart {
  const ends = parts.flatMap((part) => (part.length < size ? [] : [part.at(-1) as string]));
  // The shortest full part ends here: the later ids of its list were not read yet.
  const known = ends.toSorted()[0];
  const [first = [], ...others] = parts;
  const sets = others.map((part) => new Set(part));
  const ids = first.filter((id) => (known === undefined || id <= known) && sets.every((set) => set.has(id)));
  if (known === undefined) return { ids, next: undefined };
  const starts = parts.map((part) => part.find((id) => id > known) ?? (part.length < size ? undefined : known));
  return { ids, next: starts.includes(undefined) ? undefined : starts.toSorted().at(-1) };
}
