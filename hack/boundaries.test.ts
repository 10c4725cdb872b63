import { describe, expect, test } from 'vitest';
import { allRules } from './boundaries/all-rules.ts';
import { domainFolders } from './boundaries/layer-rules.ts';
import { listFiles } from './boundaries/list-files.ts';
import { isInside, modules } from './boundaries/modules.ts';
import { isProof, readTree, treeOf } from './boundaries/tree.ts';
import { root } from './check/run-tool.ts';

const tree = readTree(root);

describe('this checkout', () => {
  test.each(allRules)('the checkout follows the rule: $name', (rule) => {
    expect(rule.check(tree).map((finding) => `${finding.path} ${finding.message}`)).toEqual([]);
  });

  test.each([...modules.map((module) => module.folder), ...domainFolders])(
    'the folder %s of the checkout exists',
    (folder) => {
      expect(listFiles(root).some((path) => isInside(path, folder))).toBe(true);
    },
  );

  test('half of all sources have at most 120 lines', () => {
    const lengths = [...tree.sources.values()]
      .filter((source) => !isProof(source.path))
      .map((source) => source.text.split('\n').length)
      .sort((one, other) => one - other);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(120);
  });
});

const lines = (count: number): string => 'export {};\n'.repeat(count);
/** The string is written in two parts, so that this file does not contain text that the boundary rules refuse. */
const mention = (one: string, other: string): string => `export const place = '${one}${other}';`;

type Case = { readonly rule: string; readonly bad: Record<string, string>; readonly good: Record<string, string> };

/** For each boundary rule: a tree of files that breaks the rule, and a similar tree that does not. */
const cases: readonly Case[] = [
  {
    rule: 'every path in ARCHITECTURE.md exists',
    bad: { 'ARCHITECTURE.md': 'see `cli/b.ts` and `operator/absent/`', 'cli/a.ts': '', 'operator/main.ts': '' },
    good: { 'ARCHITECTURE.md': 'see `cli/a.ts`, `operator/` and `rules/x.ts`', 'cli/a.ts': '', 'operator/main.ts': '' },
  },
  {
    rule: 'ARCHITECTURE.md lists every process',
    bad: { 'ARCHITECTURE.md': 'see `runtime/main.ts`', 'runtime/main.ts': '' },
    good: {
      'ARCHITECTURE.md': '| runtime | `runtime/main.ts` | checks |',
      'runtime/main.ts': '',
      'hack/a/main.ts': '',
    },
  },
  {
    rule: 'ARCHITECTURE.md names every folder with sources, and no other',
    bad: {
      'ARCHITECTURE.md': '### Command line, `cli/`\n| `chat/` | asks |',
      'cli/chat/a.ts': '',
      'cli/logs/a.ts': '',
    },
    good: {
      'ARCHITECTURE.md':
        '### Command line, `cli/`\n| `logs/` | reads, `adapters/pods/` in a cluster; see `e2e/kube/` |',
      'cli/main.ts': '',
      'cli/logs/read-log.ts': '',
      'cli/logs/adapters/pods/a.py': '',
      'cli/testing/run-cli.ts': '',
      'cli/why/testdata/a.ts': '',
      'cli/why/why.test.ts': '',
      'cli/why/readme.md': '',
      'e2e/kube/suite/a.ts': '',
      'vitest.config.ts': '',
    },
  },
  {
    rule: 'ARCHITECTURE.md names every folder with sources, and no other',
    bad: { 'ARCHITECTURE.md': '| `cli/` | `chat/` asks |', 'cli/main.ts': '' },
    good: { 'ARCHITECTURE.md': '| `cli/` | `chat/` asks |', 'cli/main.ts': '', 'cli/chat/a.ts': '' },
  },
  {
    rule: 'every cited heading of docs/design exists',
    bad: { 'docs/design/gates.md': '## Readiness', 'runtime/a.ts': '// docs/design/gates.md, "Ready"\n' },
    good: {
      'docs/design/gates.md': '## Readiness\n**Order of gates.** The first one',
      'runtime/a.ts':
        '/**\n * docs/design/gates.md, "Order\n * of gates"). See docs/design/gates.md, Readiness).\n */\n',
    },
  },
  {
    rule: 'every relative or aliased import leads to a file',
    bad: { 'cli/a.ts': "import { b } from './b';", 'cli/b.ts': 'export const b = 1;' },
    good: { 'cli/a.ts': "import { b } from './b.ts';", 'cli/b.ts': 'export const b = 1;' },
  },
  {
    rule: 'every relative or aliased import leads to a file',
    bad: { 'cli/a.ts': "import { b } from '#kit/b.ts';", 'libraries/kit/b.ts': 'export const b = 1;' },
    good: { 'cli/a.ts': "import { b } from '#kit/b';", 'libraries/kit/b.ts': 'export const b = 1;' },
  },
  {
    rule: 'a module imports only the modules that it may know',
    bad: { 'dataplane/gateway/a.ts': "import { judge } from '../../runtime/judge.ts';" },
    good: { 'dataplane/gateway/a.ts': "import { a } from '#checks/client';" },
  },
  {
    rule: 'a module imports only the modules that it may know',
    bad: { 'libraries/kit/a.ts': "import type { Rule } from '#contracts/policy';" },
    good: { 'libraries/checks/a.ts': "import type { Rule } from '#contracts/policy';" },
  },
  {
    rule: 'a module imports only the modules that it may know',
    bad: { 'runtime/a.ts': "const client = await import('#kube/client/client');" },
    good: { 'operator/a.ts': "const client = await import('#kube/client/client');" },
  },
  {
    rule: 'every source file belongs to a module of ARCHITECTURE.md',
    bad: { 'dataplane/other/a.ts': 'export const a = 1;' },
    good: { 'dataplane/gateway/a.ts': 'export const a = 1;', 'vitest.config.ts': '' },
  },
  {
    rule: 'no source imports tests, fakes or test data',
    bad: { 'operator/a.ts': "import { fake } from './testing/fake-clock.ts';" },
    good: { 'operator/a.test.ts': "import { fake } from './testing/fake-clock.ts';" },
  },
  {
    rule: 'no controller imports another controller',
    bad: { 'operator/controllers/one/a.ts': "import { b } from '../two/b.ts';" },
    good: { 'operator/controllers/one/a.ts': "import { b } from './b.ts';" },
  },
  {
    rule: 'runtime/judge.ts runs as a child process and is never imported',
    bad: { 'runtime/service.ts': "import { judge } from './judge.ts';" },
    good: { 'operator/run.ts': "const file = new URL('../runtime/judge.ts', import.meta.url);" },
  },
  {
    rule: 'an npm package that belongs to one folder is imported only there',
    bad: { 'runtime/rules/stop-list.ts': "import RE2 from 're2';" },
    good: { 'runtime/rules/pattern/engine.ts': "import RE2 from 're2';" },
  },
  {
    rule: 'an npm package that belongs to one folder is imported only there',
    bad: { 'libraries/kube/client/client.ts': "import { KubeConfig } from '@kubernetes/client-node';" },
    good: { 'libraries/kube/client/credentials.ts': "const client = await import('@kubernetes/client-node');" },
  },
  {
    rule: 'an npm package that belongs to one folder is imported only there',
    bad: {
      'operator/management/a.ts': "import postgres from 'postgres';",
      'cli/a.ts': "import { SignJWT } from 'jose';",
    },
    good: {
      'libraries/sql/client.ts': "import postgres from 'postgres';",
      'cli/a.ts': "import { a } from '#identity/a';",
    },
  },
  {
    rule: 'domain files are free of framework, driver, clock, logger, random and environment',
    bad: { 'runtime/rules/a.ts': "import { Hono } from 'hono';" },
    good: { 'runtime/rules/a.ts': "import type { Hono } from 'hono';" },
  },
  {
    rule: 'domain files are free of framework, driver, clock, logger, random and environment',
    bad: { 'operator/controllers/binding/decide.ts': 'export const now = () => Date.now();' },
    good: { 'operator/controllers/binding/gather.ts': 'export const now = () => Date.now();' },
  },
  {
    rule: 'domain files are free of framework, driver, clock, logger, random and environment',
    bad: {
      'operator/controllers/binding/decide.ts': "import { same } from '#kube/apply/same-json';",
      'libraries/kube/apply/same-json.ts': "import { log } from '#kit/log/logger';",
      'libraries/kit/log/logger.ts': "import { pino } from 'pino';",
    },
    good: { 'operator/controllers/binding/decide.ts': "import { limits } from '#contracts/limits';" },
  },
  {
    rule: 'inside a service, outer layers import the domain and never the reverse',
    bad: { 'runtime/http/a.ts': "import { b } from '../adapters/file/b.ts';", 'runtime/adapters/file/b.ts': '' },
    good: { 'runtime/service.ts': "import { b } from './adapters/file/b.ts';", 'runtime/adapters/file/b.ts': '' },
  },
  {
    rule: 'an adapter does not import another adapter',
    bad: { 'operator/adapters/file/a.ts': "import { b } from '../processes/b.ts';" },
    good: { 'operator/adapters/file/a.ts': "import { b } from './b.ts';" },
  },
  {
    rule: 'main.ts imports configuration, composition root and kit only',
    bad: { 'runtime/main.ts': "import { load } from './bundle/load.ts';" },
    good: { 'runtime/main.ts': "import { create } from './service.ts';\nimport { run } from '#kit/process/run-main';" },
  },
  {
    rule: 'no entry point reaches a forbidden package or folder',
    bad: {
      'runtime/main.ts': "import { a } from '#kit/a';",
      'libraries/kit/a.ts': "export { b } from './b.ts';",
      'libraries/kit/b.ts': "import postgres from 'postgres';",
    },
    good: {
      'runtime/main.ts': "import { a } from '#kit/a';",
      'libraries/kit/a.ts': "export { b } from './b.ts';",
      'libraries/kit/b.ts': "import type postgres from 'postgres';",
    },
  },
  {
    rule: 'no entry point reaches a forbidden package or folder',
    bad: {
      'dataplane/gateway/main.ts': "import { connect } from '#kube/client/credentials';",
      'libraries/kube/client/credentials.ts': "const client = await import('@kubernetes/client-node');",
    },
    good: {
      'dataplane/gateway/main.ts': "import { connect } from '#kube/client/client';",
      'libraries/kube/client/credentials.ts': "const client = await import('@kubernetes/client-node');",
      'libraries/kube/client/client.ts': "import { undici } from 'undici';",
    },
  },
  {
    rule: 'folders and files are named for their content, in kebab-case',
    bad: { 'runtime/utils/a.ts': '' },
    good: { 'runtime/rules/a.ts': '' },
  },
  {
    rule: 'folders and files are named for their content, in kebab-case',
    bad: { 'runtime/LoadBundle.ts': '' },
    good: { 'runtime/load-bundle.test.ts': '' },
  },
  {
    rule: 'only kit, contracts and resources have barrel files (index.ts)',
    bad: { 'runtime/rules.ts': "export { a } from './a.ts';\nexport * from './b.ts';\n" },
    good: { 'libraries/resources/all.ts': "export { a } from './a.ts';\nexport * from './b.ts';\n" },
  },
  {
    rule: 'no file exceeds its maximum number of lines',
    bad: { 'runtime/a.ts': lines(401) },
    good: { 'runtime/a.ts': lines(400) },
  },
  {
    rule: 'no file exceeds its maximum number of lines',
    bad: { 'runtime/main.ts': lines(41) },
    good: { 'runtime/main.ts': lines(40) },
  },
  {
    rule: 'the environment is read in config.ts only',
    bad: { 'runtime/service.ts': 'const port = process.env.PORT;' },
    good: { 'runtime/config.ts': 'const port = process.env.PORT;', 'cli/a.ts': 'const path = process.env;' },
  },
  {
    rule: 'output is written by the logger, not by the console',
    bad: { 'runtime/service.ts': 'console.log(1);' },
    good: { 'cli/status.ts': 'console.log(1);', 'runtime/a.ts': '// console.log is for the command line\n' },
  },
  {
    rule: 'the type any occurs in libraries/kube only',
    bad: { 'runtime/a.ts': 'export function a(value: any): void {}' },
    good: { 'libraries/kube/a.ts': 'export function a(value: any): void {}', 'runtime/a.ts': 'list.any(item);' },
  },
  {
    rule: 'no test file contains a focused test (.only)',
    bad: { 'runtime/a.test.ts': "test.only('a', () => {});" },
    good: { 'runtime/a.test.ts': "test('a', () => {});" },
  },
  {
    rule: 'no source file calls process.exit',
    bad: { 'runtime/service.ts': 'process.exit(1);' },
    good: { 'libraries/kit/process/run-main.ts': 'process.exit(1);', 'runtime/service.ts': 'process.exitCode = 1;' },
  },
  {
    rule: 'no test has its own timeout or an upper bound for a time that passes',
    bad: { 'runtime/a.test.ts': "test.each([1])('a %s', async () => {}, 60_000);" },
    good: { 'runtime/a.test.ts': "test('a', async () => { setInterval(() => {}, 1_000); });" },
  },
  {
    rule: 'no test has its own timeout or an upper bound for a time that passes',
    bad: { 'runtime/testing/a.ts': "describe.skipIf(absent)('a', { timeout: 60_000 }, () => {});" },
    good: { 'runtime/testing/a.ts': "test('a', () => run({ timeout: 60_000 }));" },
  },
  {
    rule: 'no test has its own timeout or an upper bound for a time that passes',
    bad: { 'runtime/a.test.ts': 'const ms = performance.now() - begun;\nexpect(ms).toBeLessThan(10);' },
    good: { 'runtime/a.test.ts': 'expect(performance.now() - begun).toBeGreaterThan(10);' },
  },
  {
    rule: 'no test has its own timeout or an upper bound for a time that passes',
    bad: { 'runtime/a.test.ts': 'await expect.poll(() => isEnded).toBe(true);' },
    good: { 'runtime/a.test.ts': "await until('the end', () => isEnded);" },
  },
  {
    rule: 'every test title has words besides the values of its table',
    bad: { 'runtime/a.test.ts': "test.each(rows)('%s: $b', () => {});" },
    good: {
      'runtime/a.test.ts': "test.each(rows)('a request with %s', () => {});\ndescribe.each(rows)('%s', () => {});",
    },
  },
  {
    rule: 'no file has a mark of unfinished work',
    bad: { 'runtime/a.ts': mention('// TO', 'DO later') },
    good: { 'runtime/a.ts': '// everything is done\n' },
  },
  {
    rule: 'no file names a machine or a registry host',
    bad: { 'docs/a.md': mention('/home', '/somebody/checkout') },
    good: { 'docs/a.md': 'open http://127.0.0.1:8080/home/page and examples/work/a.yaml' },
  },
  {
    rule: 'no file names a machine or a registry host',
    bad: { '.npmrc': mention('registry', '.example.com') },
    good: { '.npmrc': 'omit-lockfile-registry-resolved=true' },
  },
  {
    rule: 'no file has a conflict marker',
    bad: { 'docs/a.md': `one\n${'<'.repeat(7)} main\ntwo\n` },
    good: { 'docs/a.md': `Title\n${'='.repeat(8)}\n\n<<<<<<<\na ${'>'.repeat(7)} b\n` },
  },
  {
    rule: 'no file has a conflict marker',
    bad: { 'charts/a.yaml': `a: 1\n${'='.repeat(7)}\na: 2\n` },
    good: { 'charts/a.yaml': `a: 1\n  ${'='.repeat(7)}\n` },
  },
  {
    rule: 'no text has a turn of speech for which the field has a word',
    bad: { 'runtime/a.test.ts': mention('the watch go', 'es on after a pause') },
    good: { 'runtime/a.test.ts': "test('the watch continues after a recommended pause', () => {});" },
  },
  ...[
    { refused: ['the deletion is taken', ' back'], plain: 'the deletion is cancelled; the card is put back' },
    { refused: ['to let', ' it go, delete it'], plain: 'to complete the deletion, let the operator delete it' },
    { refused: ['it delays no', ' other one'], plain: 'it delays no other job' },
    { refused: ['it keeps no', ' other from that'], plain: 'it does not prevent others from that' },
    { refused: ['it is kept, al', 'so if it failed'], plain: 'it is kept even if it failed; it also waits' },
  ].map(({ refused: [one = '', other = ''], plain }) => ({
    rule: 'no text has a turn of speech for which the field has a word',
    bad: { 'runtime/a.test.ts': mention(one, other) },
    good: { 'docs/a.md': plain, 'e2e/memory/contract/memory-v1.json': mention(one, other) },
  })),
  {
    rule: 'two folders of a module, of e2e or of hack never import each other',
    bad: {
      'hack/cluster/a.ts': "import { b } from './kind/b.ts';",
      'hack/cluster/kind/b.ts': "import type { C } from '../c.ts';",
      'hack/cluster/c.ts': '',
    },
    good: {
      'hack/cluster/a.ts': "import { b } from './kind/b.ts';",
      'hack/cluster/kind/b.ts': "import type { C } from '../machine/c.ts';",
      'hack/cluster/machine/c.ts': '',
      'hack/cluster/kind/b.test.ts': "import { a } from '../a.ts';",
    },
  },
  {
    rule: 'two folders of a module, of e2e or of hack never import each other',
    bad: {
      'e2e/chart/a.ts': "import { b } from './foreign/b.ts';",
      'e2e/chart/foreign/b.ts': "import type { C } from '../c.ts';",
      'e2e/chart/c.ts': '',
    },
    good: {
      'e2e/chart/a.ts': "import { b } from './foreign/b.ts';",
      'e2e/chart/foreign/b.ts': "import type { C } from '../tools/c.ts';",
      'e2e/chart/tools/c.ts': '',
      'e2e/chart/foreign/b.test.ts': "import { a } from '../a.ts';",
    },
  },
  {
    rule: 'two folders of a module, of e2e or of hack never import each other',
    bad: {
      'runtime/rules/a.ts': "import { b } from '../bundle/b.ts';",
      'runtime/bundle/b.ts': "import type { C } from '../rules/c.ts';",
      'runtime/rules/c.ts': '',
    },
    good: {
      'runtime/rules/a.ts': "import { b } from '../bundle/b.ts';",
      'runtime/bundle/b.ts': "import type { C } from '../check/c.ts';",
      'runtime/check/c.ts': '',
      'runtime/bundle/b.test.ts': "import { a } from '../rules/a.ts';",
    },
  },
  {
    rule: 'every exported name is imported somewhere',
    bad: { 'hack/a.ts': 'export const a = 1;\nexport type B = string;', 'hack/b.ts': "import { a } from './a.ts';" },
    good: {
      'hack/a.ts': 'export const a = 1;\nexport type B = string;',
      'hack/b.test.ts': "import { a } from './c.ts';\ntype C = import('./a.ts').B;",
      'hack/c.ts': "export * from './a.ts';",
      'e2e/figures/d.ts': 'export const figure = 1;',
    },
  },
  {
    rule: 'what a source exports is used by more than tests',
    bad: { 'cli/a.ts': 'export const a = 1;', 'cli/a.test.ts': "import { a } from './a.ts';" },
    good: {
      'cli/a.ts': 'export const a = 1;\nexport const twice = a + a;',
      'cli/a.test.ts': "import { a } from './a.ts';",
      'cli/b.ts': "import { twice } from './a.ts';",
      'cli/testing/c.ts': 'export const c = 1;',
    },
  },
  {
    rule: 'no name is exported by two files',
    bad: { 'cli/a.ts': 'export type Answer = string;', 'hack/b.ts': 'export const Answer = 1;' },
    good: {
      'cli/a.ts': 'export type Answer = string;\nexport function readConfig() {}',
      'hack/b.ts': "export { type Answer } from '../cli/a.ts';\nexport function readConfig() {}",
    },
  },
  {
    rule: 'no name is exported by two files',
    bad: {
      'cli/write.ts': 'export function write() {}',
      'cli/answer.ts': "import { write as store } from './write.ts';\nexport function write() {}",
    },
    good: {
      'cli/write.ts': 'export function write() {}',
      'cli/answer.ts': "import { write } from './write.ts';\nexport function answerWrite() {}",
    },
  },
  {
    rule: 'no comment or document cites a text outside of the repository',
    bad: {
      'docs/a.md': `See DES${'IGN'}.md`,
      'hack/a.ts': `// as ${'doc'}ument 1 says\n`,
      'hack/run': `# ${'sec'}tion 4.1 of it`,
    },
    good: {
      'docs/a.md': 'How a design is made: see docs/design/gates.md.',
      'hack/a.ts': "// RFC 9110, section 10.1.1\nconst text = 'document 2';\n",
      'hack/run': '# the first document: line 4, sections of it',
    },
  },
];

describe('each rule finds the tree that breaks it, and no other', () => {
  test.each(cases)('the rule finds a tree that breaks it, and no other: $rule', ({ rule: name, bad, good }) => {
    const rule = allRules.find((candidate) => candidate.name === name);
    expect(rule?.check(treeOf(bad))).not.toEqual([]);
    expect(rule?.check(treeOf(good))).toEqual([]);
  });

  test('every boundary rule that reads files has a test case', () => {
    const covered = new Set(cases.map((entry) => entry.rule));
    const open = allRules.map((rule) => rule.name).filter((name) => !covered.has(name));
    expect(open).toEqual(['the module table lists no service as a dependency']);
  });
});
