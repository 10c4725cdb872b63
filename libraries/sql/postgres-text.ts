/**
 * A text as PostgreSQL can store it: U+0000 and half of a surrogate pair, which PostgreSQL refuses, are replaced by
 * U+FFFD. Objects of the resource server can contain both. The length is unchanged.
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
