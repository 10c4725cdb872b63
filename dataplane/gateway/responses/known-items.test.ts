import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { declaredKinds } from '../chat/testing/declared-kinds.ts';
import { inputItemTypes, outputItemTypes, responseKeys, responseMembers } from './known-items.ts';

const file = fileURLToPath(import.meta.resolve('openai/resources/responses/responses')).replace(/\.(mjs|js)$/, '.d.ts');
const declarations = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');

test('the known members of a request are exactly those of the official client', () => {
  const [, body = ''] = /^export interface ResponseCreateParamsBase \{\n([\s\S]*?)^\}/m.exec(declarations) ?? [];
  const members = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name]) => name);
  expect(members.length).toBeGreaterThan(20);
  expect([...responseKeys].sort()).toEqual(members.sort());
});

test('every member of a request has the kinds of values that the package declares', () => {
  expect(declaredKinds(declarations, 'ResponseCreateParamsBase')).toEqual(responseMembers);
});

/** The values of `type` of the members of a union of items. */
function typesOf(union: string): readonly string[] {
  const [, list = ''] = new RegExp(`type ${union} = ([^;]+);`).exec(declarations) ?? [];
  const names = list.split(' | ').map((name) => name.replace(/^.*\./, ''));
  expect(names.length).toBeGreaterThan(20);
  const types = names.flatMap((name) => {
    const form = `^( *)(?:export )?interface ${name}(?: extends [^{]*)? \\{\\n([\\s\\S]*?)^\\1\\}`;
    const bodies = [...declarations.matchAll(new RegExp(form, 'gm'))].map(([, indent, body]) => ({ indent, body }));
    const own = ({ indent, body }: (typeof bodies)[number]) =>
      new RegExp(`^${indent} {4}type\\??: '(\\w+)'`, 'm').exec(body ?? '')?.[1] ?? [];
    return bodies.flatMap(own);
  });
  return [...new Set(types)].filter((type) => type !== 'message').sort();
}

test('every type of an item in the input is known, except references to items that only the provider has', () => {
  const types = typesOf('ResponseInputItem');
  expect(types).toContain('item_reference');
  expect([...inputItemTypes].sort()).toEqual(types.filter((type) => type !== 'item_reference'));
});

test('every type of an item in an answer is known', () => {
  for (const type of typesOf('ResponseOutputItem')) expect([...outputItemTypes]).toContain(type);
});
