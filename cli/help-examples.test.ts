import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentPageSchema, agentRecordSchema, foundAgentsSchema } from '#contracts/catalogue';
import { runToEnd } from '#kit/testing/run-to-end';
import { prepareNpmPackage } from '../e2e/support/npm-package.ts';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { examples } from './command-line/examples.ts';
import { checkout } from './platform/data-directory.ts';
import { type Folder, folderWithFiles, runInProcess } from './testing/run-cli.ts';

let platform: Platform;
let folder: Folder;
const files = join(checkout, 'examples');
beforeAll(async () => {
  platform = await startPlatform({
    management: true,
    retrieval: true,
    handbook: true,
    memory: true,
    agents: true,
    catalogue: true,
    console: true,
  });
  folder = folderWithFiles();
  mkdirSync(join(folder.path, 'examples'));
  const run = (args: readonly string[]) => runInProcess(args, { data: platform.data });
  // A second revision, which some examples name.
  const text = (await run(['get', 'gp', 'guarded-chat', '-o', 'yaml'])).stdout;
  const policy = folder.write(
    'second.yaml',
    text.replace(/^ {2}description:(.|\n)*?^ {2}lifecycle/m, '  description: ""\n  lifecycle'),
  );
  expect(await run(['apply', '-f', policy])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/**
 * Expected exit codes of examples that need something that only the reader has: another folder, a model, an operation,
 * a revision that is not in use, a token.
 */
const exits: Readonly<Record<string, number>> = {
  up: 11,
  'agents get': 3,
  'agent trace': 3,
  'agent promote': 2,
  'agent rollback': 2,
  'approval approve': 3,
  'freeze remove': 3,
  'operation get': 3,
  'operation wait': 3,
  'jobs get': 3,
  'jobs replay': 3,
  'memory event': 3,
  'memory get': 3,
  'memory update': 3,
  'memory history': 3,
  runtime: 2,
  'purge-revision': 9,
};
/** The examples of deletions are run last. */
const lasts = (words: string): number => ['documents delete', 'collection delete', 'delete'].indexOf(words);
const order = Object.keys(examples).sort((a, b) => lasts(a) - lasts(b));

test('the example of a planner calls an agent with only the A2A client and the answer of the catalogue', async ({
  skip,
}) => {
  const sdk = await prepareNpmPackage('@a2a-js/sdk', '1.3.0');
  if (!sdk.ok) return skip(sdk.reason);
  const place = join(folder.path, 'planner');
  mkdirSync(place);
  copyFileSync(join(files, 'clients/planner.mjs'), join(place, 'planner.mjs'));
  symlinkSync(join(sdk.folder, '../..'), join(place, 'node_modules'));
  const { catalogue = '' } = platform.status().addresses;
  const plan = (task: string) => {
    const environment = { ...process.env, CATALOGUE: catalogue, PERSON: 'bob' };
    return runToEnd(process.execPath, ['planner.mjs', 'examples', task], { cwd: place, environment });
  };
  const task = 'Answer a question in one sentence.';
  expect(await plan(task)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^Assistant \(\d\.\d\d\):\n/),
  });
  expect((await plan(task)).stdout).toContain(task);
  expect(await plan('volcanoes under glaciers')).toMatchObject({ code: 3, stdout: 'No agent fits.\n' });
});

test('agents of the catalogue are printed with the rights of their caller: as a list, one by id or name, matches, changes', async () => {
  const run = async (words: readonly string[]) => {
    const { code, stdout, stderr } = await runInProcess(['agents', ...words, '--as', 'bob'], { data: platform.data });
    expect([words, code, stderr]).toEqual([words, 0, '']);
    return stdout;
  };
  const listed = await run(['list', '--workspace', 'examples']);
  const [, id = ''] = /^([0-9a-f-]{36}) +Assistant +examples +a2a +active +yes$/m.exec(listed) ?? [];
  expect(listed).toMatch(/^ID +NAME +WORKSPACE +PROTOCOL +STATE +CALL$/m);
  expect(id).not.toBe('');
  expect(await run(['list', '--workspace', 'nowhere'])).toBe('There is no agent.\n');
  const { items } = agentPageSchema.pick({ items: true }).parse(JSON.parse(await run(['list', '--output', 'json'])));
  const agent = items.find(({ agentId }) => agentId === id);
  const address = agent?.invocationInterface?.url ?? '';
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/agents\//);
  for (const name of [id, 'Assistant']) {
    const shown = await run(['get', name]);
    expect(shown).toMatch(new RegExp(`^Id: +${id}$`, 'm'));
    expect(shown).toMatch(new RegExp(`^Address: +${address}$`, 'm'));
    expect(shown).toMatch(/^State: +active$/m);
    expect(shown).toMatch(/^Skill: +\S/m);
  }
  expect(agentRecordSchema.parse(JSON.parse(await run(['get', id, '--output', 'json'])))).toEqual(agent);
  const search = ['search', 'answer a question in one sentence', '--workspace', 'examples'];
  expect(await run(search)).toMatch(new RegExp(`^[01]\\.\\d\\d +${id} +Assistant `, 'm'));
  const { matches } = foundAgentsSchema.parse(JSON.parse(await run([...search, '--output', 'json'])));
  expect(matches[0]).toEqual({ ...agent, score: expect.any(Number) });
  expect(await run(['search', 'answer questions', '--workspace', 'nowhere'])).toBe('No agent matches.\n');
  const fitting = ['--protocol', 'a2a', '--type', 'low-code', '--profile', 'terms'];
  expect(await run([...search, ...fitting])).toContain(id);
  expect(await run([...search, '--protocol', 'mcp'])).toBe('No agent matches.\n');
  expect(await run([...search, '--type', 'sdk'])).toBe('No agent matches.\n');
  const { ownerIssuer = '', ownerSubject = '' } = agent?.owner ?? {};
  const owned = ['list', '--owner-issuer', ownerIssuer, '--owner-subject'];
  expect(await run([...owned, ownerSubject])).toContain(id);
  expect(await run([...owned, 'nobody'])).toBe('There is no agent.\n');
  expect(await run(['watch', '--workspace', 'examples', '--interval', '1', '--times', '1'])).toContain(id);
});

test.each(order)('the example in the help of portcullis %s runs as it is printed', async (words) => {
  const example = (examples[words] ?? '').replace('...', 'portcullis');
  // The shell runs in a folder of its own, because an example writes a file.
  const command = `ln -sfn ${files}/guarded-chat ${files}/handbook ${files}/agents examples/; ${example}`;
  const environment = {
    ...process.env,
    PORTCULLIS_DATA_DIR: platform.data,
    // The editor leaves the text unchanged.
    KUBE_EDITOR: 'true',
    PATH: `${join(checkout, 'cli')}:${process.env['PATH']}`,
  };
  const end = await runToEnd('bash', ['-c', command], { cwd: folder.path, environment });
  expect([end.code, end.stderr]).toEqual([exits[words] ?? 0, exits[words] === undefined ? '' : expect.any(String)]);
});
