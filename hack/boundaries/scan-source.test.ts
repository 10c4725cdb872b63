import { describe, expect, test } from 'vitest';
import { scanSource } from './scan-source.ts';

const specifiers = (text: string): readonly string[] => scanSource(text).imports.map((found) => found.specifier);

/** Opens code in a template; apart, so that the samples below stay plain strings. */
const open = '$' + '{';

describe('imports', () => {
  test.each<[string, readonly string[]]>([
    ["import { a } from './a.ts';", ['./a.ts']],
    ["import type { A } from './a.ts';", ['./a.ts']],
    ["import './a.ts';", ['./a.ts']],
    ["import {\n  a,\n  type B,\n} from './a.ts';", ['./a.ts']],
    ["export * from './a.ts';\nexport { b } from './b.ts';", ['./a.ts', './b.ts']],
    ["const a = await import('./a.ts');", ['./a.ts']],
    ['const a = await import(`./a.ts`);', ['./a.ts']],
    ["new Worker(new URL('./a.ts', import.meta.url));", ['./a.ts']],
    ["// import { a } from './a.ts';\n/* import './b.ts'; */", []],
    ['const text = "import { a } from \'./a.ts\';";', []],
    [`const text = \`import './a.ts' ${open}\`from './b.ts'\`}\`;`, []],
    ["const pattern = /import '.\\/a.ts'[/']/;\nimport './b.ts';", ['./b.ts']],
    ["const half = total / 2; import './a.ts'; const third = total / 3;", ['./a.ts']],
    [`const text = \`${open}call({ a: { b: 1 } })} import\`;\nimport './a.ts';`, ['./a.ts']],
    ["export const from = 'here';", []],
  ])('the imports of %j are found', (text, expected) => {
    expect(specifiers(text)).toEqual(expected);
  });

  test('an import of types only is distinguished from other imports', () => {
    const found = scanSource("import type { A } from './a.ts';\nimport { type B } from './b.ts';").imports;
    expect(found.map((one) => one.typeOnly)).toEqual([true, false]);
  });

  test('the first line of a source file has number 1', () => {
    expect(scanSource("\n\nimport './a.ts';").imports[0]?.line).toBe(3);
  });
});

test('the scanned code and comments keep the length and the lines of the source', () => {
  const text = `const a = 'x\\'y // z'; // why\n/* two\nlines */ const b = \`t${open}a}u\`; const c = /p\\//;\n`;
  const scan = scanSource(text);
  for (const part of [scan.code, scan.comments]) {
    expect(part.length).toBe(text.length);
    expect(part.split('\n').length).toBe(text.split('\n').length);
  }
  expect(scan.code.replace(/ +/g, ' ')).toBe(`const a = ' '; \n \n const b = \` ${open}a} \`; const c = / /;\n`);
  expect(scan.strings.map(({ value }) => value)).toEqual(["x'y // z"]);
  expect(scan.comments.trim().replace(/ +/g, ' ')).toBe('// why\n/* two\nlines */');
});

test('a tagged template with a backslash that is not an escape has its raw text', () => {
  expect(scanSource('const a = String.raw`\\users`;').strings.map(({ value }) => value)).toEqual(['\\users']);
});

test.each<[string, readonly string[]]>([
  ['export const a = 1, b = 2;', ['a', 'b']],
  ['export const { a, b: [c, ...d], ...e } = f();', ['a', 'c', 'd', 'e']],
  ['export async function* a() {}\nexport class B {}', ['a', 'B']],
  ['export type A = string;\nexport interface B {}\nexport abstract class C {}', ['A', 'B', 'C']],
  ['const a = 1;\nexport { a, a as b };\nexport default a;', ['a', 'b', 'default']],
  ["export { a as b } from './a.ts';\nexport * from './b.ts';\nexport * as c from './c.ts';", ['b', 'c']],
])('the scan of %s finds its exported names', (text, names) => {
  expect(scanSource(text).exports.map(({ name }) => name)).toEqual(names);
});

test.each<[string, readonly (readonly string[])[]]>([
  ["import a, { b as c, type D } from './a.ts';", [['default', 'b', 'D']]],
  ["import * as all from './a.ts';\nconst more = await import('./b.ts');", [['*'], ['*']]],
  ["export { a as b } from './a.ts';\nexport * from './b.ts';", [['a'], ['*']]],
  ["type A = import('./a.ts').B;\ntype C = typeof import('./c.ts');", [['B'], ['*']]],
])('the import scan of %s finds the imported names', (text, names) => {
  expect(scanSource(text).imports.map((one) => one.names)).toEqual(names);
});
