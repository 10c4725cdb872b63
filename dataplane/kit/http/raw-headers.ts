export type HeaderFault = 'missing' | 'empty' | 'duplicate';
export type OnceHeader =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly fault: HeaderFault };

/** All values of a header in the order of arrival. `rawHeaders` is Node's flat list of names and values. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const found = rawHeaders[index] as string;
    if (found.length === wanted.length && found.toLowerCase() === wanted) values.push(rawHeaders[index + 1] as string);
  }
  return values;
}

/** A header that must appear exactly once with a value that is not only white space. */
export function exactlyOnce(rawHeaders: readonly string[], name: string): OnceHeader {
  const [value, ...more] = headerValues(rawHeaders, name);
  if (value === undefined) return { ok: false, fault: 'missing' };
  if (more.length > 0) return { ok: false, fault: 'duplicate' };
  return value.trim() === '' ? { ok: false, fault: 'empty' } : { ok: true, value };
}
