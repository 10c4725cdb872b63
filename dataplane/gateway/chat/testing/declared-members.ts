import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The type declarations of a module of the pinned `openai` package, without their comments. */
export function declarationsOf(module: string): string {
  const file = fileURLToPath(import.meta.resolve(`openai/resources/${module}`)).replace(/\.(mjs|js)$/, '.d.ts');
  return readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
}

/**
 * The members that an interface declares itself, without inherited members, in any namespace.
 * @throws Error if the declarations have no such interface, or if it has fewer than two members
 */
export function declaredMembers(text: string, name: string): readonly string[] {
  const declared = new RegExp(
    `^( *)(?:export )?interface ${name}(?:<\\w+>)?(?: extends [^{]*)? ?\\{\\n([\\s\\S]*?)^\\1\\}`,
    'm',
  );
  const [, indent, body] = declared.exec(text) ?? [];
  if (indent === undefined || body === undefined) throw new Error(`the package declares no interface ${name}`);
  const members = [...body.matchAll(new RegExp(`^${indent} {4}(\\w+)\\??:`, 'gm'))].map(([, member = '']) => member);
  if (members.length < 2) throw new Error(`the package declares no members of ${name}`);
  return members;
}
