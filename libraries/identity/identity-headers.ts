import { headerValues } from '#kit/http/raw-headers';
import { isName } from './validate-claims.ts';

/** The content of a header: absent, its values, or text that is not a list of names. */
type Names = { readonly ok: true; readonly names: readonly string[] } | { readonly ok: false };

/**
 * The only name in a header that may appear at most once; undefined if the header is absent, `invalid` if its value is
 * not a name.
 */
export function oneName(
  rawHeaders: readonly string[],
  header: string,
): string | undefined | { readonly invalid: true } {
  const values = headerValues(rawHeaders, header);
  if (values.length === 0) return undefined;
  const name = values.length === 1 ? textOf(values[0] as string)?.trim() : undefined;
  return isName(name) ? name : { invalid: true };
}

/** The names of a comma-separated header, which may be repeated (RFC 9110, 5.3). Empty elements are not names. */
export function nameList(rawHeaders: readonly string[], header: string, limit: number): Names {
  const names = new Set<string>();
  for (const value of headerValues(rawHeaders, header)) {
    const text = textOf(value);
    if (text === undefined) return { ok: false };
    for (const part of text.split(',')) {
      const name = part.trim();
      if (name === '') continue;
      if (!isName(name)) return { ok: false };
      names.add(name);
    }
  }
  return names.size > limit ? { ok: false } : { ok: true, names: [...names] };
}

/** Node reads header bytes as Latin-1; names are UTF-8. */
function textOf(value: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return undefined;
  }
}
