import { readdirSync, readFileSync } from 'node:fs';

/** The tables that a schema has after the migrations of a folder, without the schema, in order. */
export function tablesOf(folder: URL): readonly string[] {
  const base = new URL(folder.href.endsWith('/') ? folder.href : `${folder.href}/`);
  const names = readdirSync(base).filter((name) => name.endsWith('.sql'));
  const tables = new Set(['migrations']);
  for (const name of names.toSorted()) {
    const text = readFileSync(new URL(name, base), 'utf8').replaceAll(/--.*$/gm, '');
    for (const [, verb, table = ''] of text.matchAll(
      /\b(create|drop)\s+table\s+(?:if\s+(?:not\s+)?exists\s+)?(\w+)/gi,
    )) {
      if (verb?.toLowerCase() === 'create') tables.add(table);
      else tables.delete(table);
    }
  }
  return [...tables].toSorted();
}
