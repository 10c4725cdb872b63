export type HeaderFault = 'missing' | 'empty' | 'duplicate';
export type OnceHeader =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly fault: HeaderFault };

const missing: OnceHeader = { ok: false, fault: 'missing' };
const empty: OnceHeader = { ok: false, fault: 'empty' };
const duplicate: OnceHeader = { ok: false, fault: 'duplicate' };

/** All values of a header in order. `rawHeaders` is Node's flat list of names and values. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const found = rawHeaders[index] as string;
    if (found.length === wanted.length && found.toLowerCase() === wanted) values.push(rawHeaders[index + 1] as string);
  }
  return values;
}

/** Whether the only Content-Type is JSON in UTF-8. */
export function hasJsonType(rawHeaders: readonly string[]): boolean {
  const [value, ...more] = headerValues(rawHeaders, 'content-type');
  if (value === undefined || more.length > 0) return false;
  return /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(value.trim());
}

/** A header that must appear exactly once with a non-blank value. */
export function exactlyOnce(rawHeaders: readonly string[], name: string): OnceHeader {
  const [value, ...more] = headerValues(rawHeaders, name);
  if (value === undefined) return missing;
  return more.length > 0 ? duplicate : unlessEmpty(value);
}

function unlessEmpty(value: string): OnceHeader {
  return value.trim() === '' ? empty : { ok: true, value };
}

type EachOnce<N extends readonly string[]> = { readonly [K in keyof N]: OnceHeader };

/** Returns a reader that applies `exactlyOnce` to several names (in lower case) in one pass over the list. */
export function createHeaderReader<const N extends readonly string[]>(
  names: N,
): (rawHeaders: readonly string[]) => EachOnce<N> {
  /** Indexed by length, which rules out most headers of a request. */
  const placesOfLength: number[][] = [];
  for (const [place, { length }] of names.entries()) {
    placesOfLength[length] = [...(placesOfLength[length] ?? []), place];
  }

  function placeOf(found: string): number | undefined {
    const places = placesOfLength[found.length];
    if (places === undefined) return undefined;
    for (const place of places) {
      if (found === names[place] || found.toLowerCase() === names[place]) return place;
    }
    return undefined;
  }

  return (rawHeaders) => {
    const headers = names.map(() => missing);
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const place = placeOf(rawHeaders[index] as string);
      if (place === undefined) continue;
      headers[place] = headers[place] === missing ? unlessEmpty(rawHeaders[index + 1] as string) : duplicate;
    }
    return headers as unknown as EachOnce<N>;
  };
}
