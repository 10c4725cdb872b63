/**
 * A text as PostgreSQL stores it: U+FFFD for U+0000 and for half of a surrogate pair, which it refuses. Objects of the
 * resource server can have both. The length stays.
 */
export function postgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}');
}

/** A JSON value in which every text can be stored. */
export function postgresContent<T>(content: T): T {
  return JSON.parse(JSON.stringify(content), (_name, value: unknown) =>
    typeof value === 'string' ? postgresText(value) : value,
  ) as T;
}
