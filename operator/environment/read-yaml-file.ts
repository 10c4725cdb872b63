import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';

/** What a file of the environment says, and everything that is wrong with it, each with file and place. */
export type Reading<T> = { readonly value: T; readonly problems: readonly string[] };

/**
 * Reads one YAML file of the environment. A file that is not there reads as `absent`; where that is undefined, the
 * file must be there. Problems never repeat what the file holds.
 */
export async function readYamlFile<S extends z.ZodType, A extends z.infer<S> | undefined>(
  path: string,
  schema: S,
  absent: A,
): Promise<Reading<z.infer<S> | A>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAbsent) return { value: absent, problems: [`${path} cannot be read`] };
    return { value: absent, problems: absent === undefined ? [`${path} is missing: it must be there`] : [] };
  }
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) {
    // The parser's message shows a piece of the file; the place is enough.
    const at = document.errors[0]?.linePos?.[0].line;
    return { value: absent, problems: [`${path} is not YAML that can be read (line ${at ?? 1})`] };
  }
  const parsed = schema.safeParse(document.toJS() ?? {});
  if (parsed.success) return { value: parsed.data, problems: [] };
  const problems = parsed.error.issues.map(
    (issue) => `${path}: ${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  return { value: absent, problems };
}

/** The names that stand in a list more than once, each once. */
export function repeatedNames(entries: readonly { readonly name: string }[]): readonly string[] {
  const names = entries.map((entry) => entry.name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
