import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One obligation of a contract document. */
type RequirementRow = { readonly id: string; readonly section: string; readonly rule: string };

const header = 'id\tsection\trule';

/** The rows of one file; throws at the first line that is not a row, and for an id that occurs twice. */
export function parseRows(text: string): readonly RequirementRow[] {
  const [first, ...lines] = text.trimEnd().split('\n');
  if (first !== header) throw new Error(`the first line must be ${JSON.stringify(header)}`);
  const seen = new Set<string>();
  return lines.map((line, index) => {
    const [id, section, rule, ...rest] = line.split('\t');
    if (id === undefined || section === undefined || rule === undefined || rest.length > 0) {
      throw new Error(`line ${index + 2} does not have three columns`);
    }
    if (seen.has(id)) throw new Error(`the id ${id} occurs twice`);
    seen.add(id);
    return { id, section, rule };
  });
}

/** The rows of all delivered parts: the files `e2e/requirements/*.tsv`. */
export function requirementRows(root: string): readonly RequirementRow[] {
  const folder = join(root, 'e2e/requirements');
  const files = readdirSync(folder).filter((name) => name.endsWith('.tsv'));
  return files.sort().flatMap((name) => parseRows(readFileSync(join(folder, name), 'utf8')));
}
