/** Name of the metadata in paths of attributes. */
export const metadataRoot = 'metadata';

/**
 * The path of a member of metadata: its names from the outside to the inside, joined by dots. A dot or a backslash of a
 * name has a backslash before it, so that {"a.b": 1} and {"a": {"b": 1}} have different paths.
 */
export function innerPath(path: string, name: string): string {
  return `${path}.${name.replaceAll(/[\\.]/g, '\\$&')}`;
}

/**
 * The path that a filter writes as one text, such as `metadata.a.b` or `metadata.a\.b`. A backslash that precedes
 * neither a dot nor a backslash is a literal backslash.
 */
export function readMetadataPath(text: string): string {
  const [, ...names] = text.split(/(?<!(?<!\\)(?:\\\\)*\\)\./);
  return names.map((name) => name.replaceAll(/\\([\\.])/g, '$1')).reduce(innerPath, metadataRoot);
}
