import { expect, test } from 'vitest';
import { isInside } from '../boundaries/modules.ts';
import { readTree, treeOf } from '../boundaries/tree.ts';
import { affectedTests } from './affected-tests.ts';
import { isPure } from './is-pure.ts';
import { listSuites, longFiles, platformFiles, slowFiles } from './list-suites.ts';
import { root } from './run-tool.ts';

const tree = readTree(root);
const tests = [...tree.sources.keys()].filter((path) => path.endsWith('.test.ts'));

test('every test file is in exactly one suite, and no suite is empty', () => {
  const suites = listSuites(tree);
  expect([...suites.values()].flat().toSorted()).toEqual(tests.toSorted());
  expect([...suites].filter(([, files]) => files.length === 0)).toEqual([]);
});

test.each([...new Set([...slowFiles, ...platformFiles, ...longFiles])])(
  'the listed test path %s contains a test',
  (listed) => {
    expect(tests.some((path) => isInside(path, listed))).toBe(true);
  },
);

test.each<[string, Record<string, string>, boolean, boolean]>([
  ['data alone', { 'a.test.ts': "import { b } from './b.ts';", 'b.ts': "import { z } from 'zod';" }, true, true],
  [
    'a process',
    { 'a.test.ts': "import { b } from './b.ts';", 'b.ts': "import { fork } from 'node:child_process';" },
    false,
    false,
  ],
  ['the type of a process', { 'a.test.ts': "import type { ChildProcess } from 'node:child_process';" }, true, true],
  ['a socket', { 'a.test.ts': "import { createServer } from 'node:http';" }, false, true],
  ['a client', { 'a.test.ts': "import { Agent } from 'undici';" }, false, true],
  ['the environment', { 'a.test.ts': "const a = process.env['A'];" }, true, true],
  ['a change of the environment', { 'a.test.ts': "process.env['A'] = 'b';" }, false, false],
  ['a change of one variable', { 'a.test.ts': "process.env.A ??= 'b';" }, false, false],
  ['an absent variable', { 'a.test.ts': "delete process.env['A'];" }, false, false],
  ['a mock', { 'a.test.ts': 'vi.useFakeTimers();' }, false, false],
  ['a worker', { 'a.test.ts': "new URL('./w.ts', import.meta.url);" }, false, false],
])(
  'a test that uses %s: whether it is in the suite pure, and otherwise in the suite servers',
  (_, files, pure, shared) => {
    expect([isPure(treeOf(files), 'a.test.ts', false), isPure(treeOf(files), 'a.test.ts', true)]).toEqual([
      pure,
      shared,
    ]);
  },
);

test.each<[string, readonly string[], readonly string[]]>([
  ['a source', ['cli/b.ts'], ['cli/a.test.ts']],
  ['a test', ['e2e/c.test.ts'], ['e2e/c.test.ts']],
  ['a program that a test starts by its path', ['runtime/main.ts'], ['e2e/c.test.ts']],
  ['a file that a test reads from a folder', ['crds/x.yaml'], ['e2e/d.test.ts']],
  ['a page that no test reads', ['docs/x.md'], []],
  ['a file that no source names', ['Dockerfile'], ['cli/a.test.ts', 'e2e/c.test.ts', 'e2e/d.test.ts']],
  ['the dependencies', ['package.json'], ['cli/a.test.ts', 'e2e/c.test.ts', 'e2e/d.test.ts']],
])('a change of %s selects the tests that it can affect', (_, changed, expected) => {
  const small = treeOf({
    'cli/a.test.ts': "import type { B } from './b.ts';",
    'cli/b.ts': '',
    'e2e/c.test.ts': "start('runtime/main.ts');",
    'e2e/d.test.ts': "read('../crds');",
    'runtime/main.ts': '',
  });
  expect(affectedTests(small, changed)).toEqual(expected);
});
