import { readFileSync } from 'node:fs';
import { type Document, isScalar, LineCounter, parseDocument, stringify, visit } from 'yaml';
import { z } from 'zod';
import { definitionSchema } from '#contracts/policy';
import { problemSentences, readShape } from '#contracts/read-shape';

/** The text of the editor, as the management API saves it. It does not change the tests of a policy. */
const sourceSchema = z.strictObject({
  name: z.string(),
  description: z.string().default(''),
  definition: definitionSchema,
});
type PolicySource = z.infer<typeof sourceSchema>;

type ReadSource =
  | { readonly ok: true; readonly value: PolicySource }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Longest text of the editor, characters: above the largest definition. */
const mostCharacters = 1_500_000;
const mostProblems = 20;

/** Reads the YAML of the editor; every problem names its place. */
export function readPolicySource(text: string): ReadSource {
  if (text.length > mostCharacters) return { ok: false, problems: ['the text is too long'] };
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, lineCounter, version: '1.2' });
  if (document.errors.length > 0) {
    const problems = document.errors.slice(0, mostProblems).map(({ code, message, pos: [at] }) => {
      const { line, col } = lineCounter.linePos(at);
      const fault = code.toLowerCase().replaceAll('_', ' ');
      return `the text is not valid YAML (${fault}): ${message} at line ${line}, column ${col}`;
    });
    return { ok: false, problems };
  }
  const repeated = repeatedName(document);
  if (repeated !== undefined) return { ok: false, problems: [`the name ${repeated} is repeated`] };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    return { ok: false, problems: ['the text uses aliases of YAML: write the values out'] };
  }
  const read = readShape(sourceSchema, value);
  return read.ok
    ? { ok: true, value: read.value }
    : { ok: false, problems: [problemSentences(read.problems, 'the policy')] };
}

/** A name that a mapping has more than once. It is found here, because the parser compares every pair of names. */
function repeatedName(document: Document.Parsed): string | undefined {
  let found: string | undefined;
  visit(document, {
    Map(_, map) {
      const names = new Set<string>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : undefined;
        if (name === undefined) continue;
        if (names.has(name)) {
          found = name;
          return visit.BREAK;
        }
        names.add(name);
      }
      return undefined;
    },
  });
  return found;
}

/** The members that the editor can change; others of a read policy are left out. */
export function writePolicySource({
  name,
  description,
  definition,
}: Omit<PolicySource, 'definition'> & { readonly definition: unknown }): string {
  return stringify({ name, description, definition }, { lineWidth: 110, aliasDuplicateObjects: false });
}

const recipeNames = ['secrets', 'personal-data', 'competitors', 'topic', 'system-prompt', 'language'] as const;

const manifestSchema = z.object({
  spec: z.object({ displayName: z.string(), description: z.string(), definition: definitionSchema }),
});

/** The recipes of the documentation, as sources of new policies. */
export function readRecipes(): ReadonlyMap<string, string> {
  return new Map(
    recipeNames.map((name) => {
      const text = readFileSync(new URL(`../../../examples/recipes/${name}.yaml`, import.meta.url), 'utf8');
      const { spec } = manifestSchema.parse(parseDocument(text).toJS());
      const { displayName, description, definition } = spec;
      return [name, writePolicySource({ name: displayName, description, definition })];
    }),
  );
}
