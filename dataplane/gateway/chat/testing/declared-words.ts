import { declarationsOf } from './declared-members.ts';

const modules = ['chat/completions/completions', 'responses/responses', 'shared', 'embeddings'] as const;
const texts = modules.map(declarationsOf);

/**
 * The strings that a member of an interface of the `openai` package can have as values, and the names of the members inside of it, of all
 * types that it names.
 * @param module that declares the interface
 */
export function declaredWords(
  module: (typeof modules)[number],
  name: string,
): ReadonlyMap<string, ReadonlySet<string>> {
  const text = declarationsOf(module);
  const [, body = ''] = new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text) ?? [];
  const members = body.split(/^ {4}(?=\w+\??:)/m).slice(1);
  return new Map(
    members.map((one) => {
      const [, key = '', type = ''] = /^(\w+)\??: ([\s\S]*)/.exec(one) ?? [];
      return [key, wordsOf(type, [text, ...texts])];
    }),
  );
}

/** @param scopes in which a type is looked up, the innermost first */
function wordsOf(type: string, scopes: readonly string[], known = new Set<string>()): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [, value = ''] of type.matchAll(/'([^']*)'/g)) words.add(value);
  for (const [, key = ''] of type.matchAll(/^\s*(\w+)\??:/gm)) words.add(key);
  for (const [path] of type.matchAll(/\b(?:[A-Z]\w*\.)*[A-Z]\w*\b/g)) {
    const found = lookUp(path.split('.'), scopes);
    if (found === undefined || known.has(found.body)) continue;
    known.add(found.body);
    for (const word of wordsOf(found.body, found.scopes, known)) words.add(word);
  }
  return words;
}

type Found = { readonly body: string; readonly scopes: readonly string[] };

function lookUp(path: readonly string[], scopes: readonly string[]): Found | undefined {
  const [first = '', ...rest] = path;
  for (const [at, scope] of scopes.entries()) {
    const around = scopes.slice(at);
    const inner = blockOf('namespace', first, scope);
    if (rest.length === 0) {
      const body = blockOf('interface', first, scope) ?? aliasOf(first, scope);
      if (body !== undefined) return { body, scopes: inner === undefined ? around : [inner, ...around] };
    } else if (inner !== undefined) {
      const found = lookUp(rest, [inner, ...around]);
      if (found !== undefined) return found;
    }
  }
  // The name of an imported module.
  return rest.length === 0 ? undefined : lookUp(rest, scopes);
}

/** The content of a block on the outermost level of a text. */
function blockOf(kind: 'namespace' | 'interface', name: string, text: string): string | undefined {
  const indent = /^ */.exec(text.replace(/^\n+/, ''))?.[0] ?? '';
  const head = `${indent}(?:export )?(?:declare )?${kind} ${name}(?: extends [^{]*)? ?\\{\\n`;
  return new RegExp(`^${head}([\\s\\S]*?)^${indent}\\}`, 'm').exec(text)?.[1];
}

function aliasOf(name: string, text: string): string | undefined {
  return new RegExp(`^ *(?:export )?(?:declare )?type ${name} = ([^;]+);`, 'm').exec(text)?.[1];
}
