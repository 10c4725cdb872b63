import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { fieldProblems, readShape } from '#contracts/read-shape';

/** The content of a file and its problems, each with file and field. */
type FileContent<T> = { readonly value: T; readonly problems: readonly string[] };

/**
 * Reads one YAML file of the environment. For a missing file the result is `absent`, or a problem if `absent` is
 * undefined. Problems do not repeat content of the file.
 */
export async function readYamlFile<S extends z.ZodType, A extends z.infer<S> | undefined>(
  path: string,
  schema: S,
  absent: A,
): Promise<FileContent<z.infer<S> | A>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAbsent) return { value: absent, problems: [`${path} cannot be read`] };
    return { value: absent, problems: absent === undefined ? [`${path} is missing: create it`] : [] };
  }
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) {
    // The parser's message quotes the file, which may hold a secret: only the line is reported.
    const at = document.errors[0]?.linePos?.[0].line;
    return { value: absent, problems: [`${path} is not valid YAML (line ${at ?? 1})`] };
  }
  const read = readShape(schema, document.toJS() ?? {});
  if (read.ok) return { value: read.value, problems: [] };
  const problems = fieldProblems(read.problems);
  return {
    value: absent,
    problems: problems.map(({ field, message }) => `${path}: ${field || 'the file'} ${message}`),
  };
}

/** Names that a list holds more than once, each returned once. */
export function repeatedNames(entries: readonly { readonly name: string }[]): readonly string[] {
  const names = entries.map((entry) => entry.name);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
