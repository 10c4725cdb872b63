import { describe, expect, test } from 'vitest';
import { importsOf, scanSource } from './scan-source.ts';

const specifiers = (text: string): readonly string[] => importsOf(scanSource(text)).map((found) => found.specifier);

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
  ])('%s', (text, expected) => {
    expect(specifiers(text)).toEqual(expected);
  });

  test('an import of types alone is told apart', () => {
    const found = importsOf(scanSource("import type { A } from './a.ts';\nimport { type B } from './b.ts';"));
    expect(found.map((one) => one.typeOnly)).toEqual([true, false]);
  });

  test('a line is counted from 1', () => {
    expect(importsOf(scanSource("\n\nimport './a.ts';"))[0]?.line).toBe(3);
  });
});

test('code and comments have the length and the lines of the text', () => {
  const text = `const a = 'x\\'y'; // why\n/* two\nlines */ const b = \`t${open}a}u\`;\n`;
  const scan = scanSource(text);
  for (const part of [scan.code, scan.comments]) {
    expect(part.length).toBe(text.length);
    expect(part.split('\n').length).toBe(text.split('\n').length);
  }
  expect(scan.code).not.toMatch(/why|two|lines/);
  expect(scan.strings.map((string) => string.value)).toEqual(["x\\'y"]);
});
