import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { runInProcess } from './testing/run-cli.ts';

let platform: Platform;
let receiver: ScriptedHttp;
const folder = temporaryFolder();
beforeAll(async () => {
  receiver = await startScriptedHttp((response) => void response.end('{}'));
  platform = await startPlatform({ management: true, auditOtlp: `${receiver.url}/v1/logs` });
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const run = (...args: readonly string[]) => runInProcess(args, { data: platform.data });
/** Runs a command of a person, who answers its question. */
const atTerminal = (input: string, ...args: readonly string[]) =>
  runInProcess(args, { data: platform.data, input, terminals: ['stdin', 'stderr'] });

test('portcullis admin grants, lists and revokes a role, and portcullis audit shows the author', async () => {
  expect((await run('admin', 'grant', 'alice', '--role', 'viewer')).stdout).toBe('alice has the role viewer.\n');
  expect((await run('admin', 'grant', 'alice', '--role', 'viewer')).stdout).toContain('This was already the case.');
  expect((await run('admin', 'grant', 'guards', '--group')).stdout).toBe('guards has the role administrator.\n');
  const listed = (await run('admin', 'list')).stdout;
  expect(listed).toMatch(/^viewer +user +alice /m);
  expect(listed).toMatch(/^administrator +group +guards /m);
  expect((await run('admin', 'revoke', 'guards', '--group')).code).toBe(0);
  expect((await run('admin', 'revoke', 'alice', '--role', 'viewer')).stdout).toBe(
    'alice no longer has the role viewer.\n',
  );
  const wrong = await run(
    'admin',
    'grant',
    'alice',
    '--role',
    'author',
    '--model',
    '01890a5d-ac96-774b-bcce-b302099a8057',
  );
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('The role author cannot be limited to a model: choose --role applier or viewer'),
  ]);
  const { items } = JSON.parse(
    (await run('audit', 'list', '--action', 'administrator.grant', '--outcome', 'accepted', '--json')).stdout,
  );
  // The newest first; before them the service granted the administrators of the first start.
  const authors: readonly { kind: string; name?: string }[] = items.map((item: AuditEntry) => item.content.author);
  expect(authors.slice(0, 2).map(({ kind }) => kind)).toEqual(['token', 'token']);
  expect(new Set(authors.slice(2).map(({ kind, name }) => `${kind} ${name}`))).toEqual(new Set(['service management']));
  expect((await run('audit', 'list', '--limit', '3', '-o', 'wide')).stdout.split('\n')[0]).toMatch(
    /^TIME +AUTHOR +ACTION/,
  );
});

test('commands of administrators accept names of policies and models, and suggest the name that was probably meant', async () => {
  const granted = await run('admin', 'grant', 'carol', '--role', 'author', '--policy', 'guarded-chat');
  const { metadata } = JSON.parse((await run('get', 'gp', 'guarded-chat', '-o', 'json')).stdout);
  const id: string = metadata.labels['portcullis.dev/id'];
  expect(granted.stdout).toBe('carol has the role author for the policy guarded-chat.\n');
  const again = await run('admin', 'grant', 'carol', '--role', 'author', '--policy', 'guarded-chat', '-o', 'wide');
  expect(again.stdout).toBe(
    `carol has the role author for the policy guarded-chat (${id}). This was already the case.\n`,
  );
  const ownRow = async (...more: readonly string[]) =>
    (await run('admin', 'list', ...more)).stdout.split('\n').find((line) => line.includes('carol'));
  expect(await ownRow()).toMatch(/ policy guarded-chat *$/);
  expect(await ownRow('-o', 'wide')).toMatch(new RegExp(` policy guarded-chat +${id}$`));
  const revoked = await run('admin', 'revoke', 'carol', '--role', 'author', '--policy', id);
  expect(revoked.stdout).toBe(`carol no longer has the role author for the policy ${id}.\n`);
  expect(await ownRow()).toBe(undefined);
  const until = ['--until', '2099-01-01T00:00:00Z'];
  for (const [words, meant] of [
    [
      ['freeze', 'set', '--model', 'guarded-ecoh', ...until],
      'There is no model "guarded-ecoh". Did you mean guarded-echo?',
    ],
    [
      ['approval', 'require', '--policy', 'guarded-caht'],
      'There is no policy "guarded-caht". Did you mean guarded-chat?',
    ],
    [
      ['admin', 'grant', 'dan', '--role', 'viewer', '--policy', 'other'],
      '"portcullis get guardrailpolicies" lists the names.',
    ],
    [
      ['operation', 'list', '--target', 'guarded-ecoh'],
      'There is no policy, model or agent "guarded-ecoh". Did you mean',
    ],
  ] as const) {
    expect([words, await run(...words)]).toMatchObject([words, { code: 3, stderr: expect.stringContaining(meant) }]);
  }
  const unknown = await run('audit', 'list', '--target', 'guarded-ecoh');
  expect(unknown).toMatchObject({ code: 0, stdout: expect.stringContaining('Did you mean guarded-echo?') });
  const complete = async (...words: readonly string[]) => (await run('__complete', ...words)).stdout.split('\n');
  expect(await complete('freeze', 'set', '--model', '')).toContain('guarded-echo');
  expect(await complete('approval', 'require', '--policy', '')).toContain('guarded-chat');
  expect(await complete('audit', 'list', '--target', '')).toEqual(
    expect.arrayContaining(['guarded-chat', 'guarded-echo']),
  );
});

test('the receiver of --audit-otlp gets the entries of the management API', async () => {
  expect((await run('admin', 'grant', 'otto', '--role', 'viewer')).code).toBe(0);
  await until('the entry arrives', () => {
    const sent = receiver.seen.filter(({ path }) => path === '/v1/logs').map(({ text }) => text);
    return sent.some((text) => text.includes('#viewer@user:') && text.includes('|otto')) ? true : undefined;
  });
});

test('portcullis purge-revision asks for confirmation, removes the text of a revision permanently, and names the objects that protect another revision', async () => {
  const manifest = JSON.parse((await run('get', 'gp', 'guarded-chat', '-o', 'json')).stdout);
  const file = join(folder.path, 'leaky.json');
  for (const description of ['with-a-secret', 'without']) {
    const { definition } = manifest.spec;
    const { apiVersion, kind } = manifest;
    const spec = { displayName: 'leaky', description, lifecycle: 'Draft', definition };
    writeFileSync(file, JSON.stringify({ apiVersion, kind, metadata: { name: 'leaky' }, spec }));
    expect(await run('apply', '-f', file, '--wait')).toMatchObject({ code: 0 });
  }
  expect(await run('purge-revision', 'leaky', '1')).toMatchObject({ code: 13, stdout: '' });
  const newest = await run('purge-revision', 'leaky', '2', '--yes');
  expect([newest.code, newest.stderr]).toEqual([
    9,
    expect.stringContaining('/guardrailpolicies/leaky has this version'),
  ]);
  expect((await run('purge-revision', 'leaky', '7', '--yes')).code).toBe(3);
  expect(await run('purge-revision', 'leaky', '1', '--yes')).toMatchObject({
    code: 0,
    stdout: 'The text of revision 1 of leaky was removed. The same definition is still in: 2.\n',
  });
  expect((await run('purge-revision', 'leaky', '1')).stdout).toContain('was removed before');
  for (const via of ['api', 'resources']) {
    for (const words of [
      ['diff', 'leaky', '1', '2'],
      ['apply-revision', 'guarded-echo', '1', '--policy', 'leaky'],
      ['apply-revision', 'guarded-echo', '1', '--policy', 'leaky', '--dry-run', 'server'],
    ]) {
      expect([words, await run(...words, '--via', via)]).toMatchObject([words, { code: 9, stdout: '' }]);
    }
  }
  const shown = await run('get', 'policyrevisions', '-o', 'json');
  expect(shown.stdout).not.toContain('with-a-secret');
});

test('portcullis approval names the policies and models that require approvals, and a refused command names the request that another person approves', async () => {
  const { items } = JSON.parse((await run('get', 'modelbindings', '-o', 'json')).stdout);
  const id: string = items[0].metadata.labels['portcullis.dev/id'];
  const { name } = items[0].metadata;
  expect((await run('approval', 'require')).code).toBe(2);
  expect((await run('approval', 'require', '--model', name)).stdout).toBe(
    `The model ${name} requires approvals for commands with --via api.\n`,
  );
  expect((await run('approval', 'require', '--model', id)).stdout).toContain('This was already the case.');
  expect((await run('approval', 'rules')).stdout).toMatch(new RegExp(`^model +${name} *$`, 'm'));
  expect((await run('approval', 'rules', '-o', 'wide')).stdout).toMatch(new RegExp(`^model +${name} +${id}`, 'm'));
  const unguarded = await run('unbind', name, '--dry-run=server', '--via', 'api');
  expect(unguarded).toMatchObject({ code: 0, stderr: expect.stringContaining('be refused (approval_required)') });
  const passed = await until('the write is followed by its warning', async () => {
    const result = await run('reapply', name);
    return result.stderr !== '' && result;
  });
  const sentence = `warning: The model ${name} requires approvals, and was changed without one: approvals apply to`;
  expect(passed).toMatchObject({ code: 0, stderr: expect.stringContaining(sentence) });
  const refused = await run('reapply', name, '--via', 'api');
  expect(refused).toMatchObject({ code: 9, stdout: '' });
  const request = /\/approvals\/([0-9a-f-]{36})/.exec(refused.stderr)?.[1] ?? '';
  const listed = (await run('approval', 'list')).stdout;
  expect(listed).toMatch(new RegExp(`^${request} +binding.apply +model ${name} +guarded-chat 1 `, 'm'));
  expect(listed).not.toContain(id);
  expect((await run('approval', 'list', '-o', 'wide')).stdout).toContain(id);
  expect((await run('approval', 'approve', request)).code).toBe(9);
  await run('admin', 'grant', 'second', '--role', 'applier');
  const token = join(folder.path, 'second.token');
  writeFileSync(token, (await run('token', '--subject', 'second')).stdout);
  const approved = await run('approval', 'approve', request, '--token-file', token);
  expect(approved).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The binding.apply of .* is approved until/),
  });
  expect(await run('reapply', name, '--via', 'api', '--wait')).toMatchObject({ code: 0 });
  const answered = await atTerminal('n\n', 'approval', 'release', '--model', name);
  expect(answered).toMatchObject({
    code: 13,
    stdout: '',
    stderr: expect.stringContaining(`Changes of the model ${name}`),
  });
  expect((await run('approval', 'rules')).stdout).toContain(name);
  expect((await run('approval', 'release', '--model', items[0].spec.model.alias)).code).toBe(0);
  expect((await run('approval', 'rules')).stdout).not.toContain(name);
});

test('portcullis freeze refuses commands on a model until an administrator overrides or removes the window', async () => {
  const { items } = JSON.parse((await run('get', 'modelbindings', '-o', 'json')).stdout);
  const id: string = items[0].metadata.labels['portcullis.dev/id'];
  const { name } = items[0].metadata;
  expect((await run('freeze', 'set', '--until', '2099-01-01T00:00:00Z')).code).toBe(2);
  expect((await run('freeze', 'set', '--model', id, '--until', 'tomorrow')).code).toBe(2);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const refusedName = await run('freeze', 'set', '--model', id, '--until', until, '-o', 'name');
  expect(refusedName).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('choose -o json') });
  expect((await run('freeze', 'list', '-o', 'name')).stdout).toBe('');
  const set = await run('freeze', 'set', '--model', name, '--until', until);
  expect(set.stdout).toMatch(
    new RegExp(`^model ${name} is frozen from .* to ${until}: for commands with --via api\\.\n$`),
  );
  const refused = await run('reapply', name, '--via', 'api');
  expect([refused.code, refused.stderr]).toEqual([9, expect.stringContaining(`in force until ${until}`)]);
  const dry = ['--dry-run=server', '--via', 'api'];
  for (const words of [
    ['reapply', name],
    ['unbind', name],
  ]) {
    const foreseen = await run(...words, ...dry);
    expect([foreseen.code, foreseen.stderr]).toEqual([0, expect.stringContaining('would be refused (change_frozen)')]);
    expect(await run(...words, ...dry, '--override-freeze')).toMatchObject({ code: 0, stderr: '' });
  }
  expect(await run('reapply', name, '--via', 'api', '--override-freeze', '--wait')).toMatchObject({ code: 0 });
  const window = /^([0-9a-f-]{36}) +model/m.exec((await run('freeze', 'list')).stdout)?.[1] ?? '';
  expect((await run('freeze', 'list', '-o', 'name')).stdout).toBe(`${window}\n`);
  const answered = await atTerminal('n\n', 'freeze', 'remove', window);
  expect(answered).toMatchObject({
    code: 13,
    stdout: '',
    stderr: expect.stringContaining(`The window ${window} would`),
  });
  expect((await run('freeze', 'list', '-o', 'name')).stdout).toBe(`${window}\n`);
  expect((await run('freeze', 'remove', window)).stdout).toBe(`The window of model ${name} was removed.\n`);
  const other = await run('freeze', 'set', '--model', name, '--until', until, '-o', 'jsonpath={.id}');
  expect(await atTerminal('y\n', 'freeze', 'remove', other.stdout)).toMatchObject({ code: 0 });
  const third = await run('freeze', 'set', '--model', name, '--until', until, '-o', 'jsonpath={.id}');
  const confirmed = await atTerminal('', 'freeze', 'remove', third.stdout, '--yes');
  expect(confirmed).toMatchObject({ code: 0, stderr: '' });
  const overrides = ['audit', 'list', '--action', 'freeze.override', '--target', name];
  const shown = (await run(...overrides)).stdout;
  expect(shown).toContain(`model ${name}`);
  expect(shown).not.toContain(id);
  expect((await run(...overrides, '-o', 'wide')).stdout).toContain(id);
  expect((await run('operation', 'list', '--target', name)).stdout).toContain(`model ${name}`);
  expect((await run('operation', 'list', '--target', id, '-o', 'name')).stdout).toMatch(/^[0-9a-f-]{36}$/m);
});

test('a command over resources cannot override a freeze window, and a write that the API would refuse is followed by a warning', async () => {
  const binding = JSON.parse((await run('get', 'mb', 'guarded-echo', '-o', 'json')).stdout);
  const ignored = await run('reapply', 'guarded-echo', '--override-freeze');
  expect([ignored.code, ignored.stdout, ignored.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('--override-freeze belongs to the management API: add --via api.'),
  ]);
  const after = JSON.parse((await run('get', 'mb', 'guarded-echo', '-o', 'json')).stdout);
  expect(after.spec).toEqual(binding.spec);
  const end = new Date(Date.now() + 3_600_000).toISOString();
  const later = new Date(Date.now() + 1_800_000).toISOString();
  expect((await run('freeze', 'set', '--model', 'guarded-echo', '--from', later, '--until', end)).code).toBe(0);
  expect(await run('reapply', 'guarded-echo')).toMatchObject({ code: 0, stderr: '' });
  expect((await run('freeze', 'set', '--policy', 'guarded-chat', '--until', end)).code).toBe(0);
  const sentence = `The policy guarded-chat is frozen until ${end}, and a binding of it was changed nevertheless: freeze windows apply to`;
  expect(await run('reapply', 'guarded-echo', '--dry-run=server')).toMatchObject({ code: 0, stderr: '' });
  const warned = await until('the write is followed by its warning', async () => {
    const result = await run('reapply', 'guarded-echo', '--json');
    return result.stderr !== '' && result;
  });
  expect(warned).toMatchObject({
    code: 0,
    stderr: `portcullis: warning: ${sentence} commands with --via api.\n`,
  });
  for (const id of (await run('freeze', 'list', '-o', 'name')).stdout.trim().split('\n')) {
    expect((await run('freeze', 'remove', id)).code).toBe(0);
  }
  expect(await run('reapply', 'guarded-echo', '--wait')).toMatchObject({ code: 0, stderr: '' });
});

test('portcullis audit export writes lines that audit verify proves, and audit verify names the first changed line', async () => {
  await run('admin', 'grant', 'bob', '--role', 'author');
  await run('admin', 'revoke', 'bob', '--role', 'author');
  await run('admin', 'grant', 'bob', '--role', 'viewer');
  const { stdout } = await run('audit', 'export');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(2);
  const file = join(folder.path, 'audit.jsonl');
  writeFileSync(file, stdout);
  expect((await run('audit', 'verify', '--file', file)).code).toBe(0);
  const proved = JSON.parse((await run('audit', 'verify', '--json')).stdout);
  const [head] = proved.heads.filter((one: string) => one.startsWith('management:'));
  expect((await run('audit', 'verify', '--known', head)).code).toBe(0);
  const other = head.replace(/[0-9a-f]{64}$/, 'f'.repeat(64));
  expect((await run('audit', 'verify', '--known', other)).stderr).toContain(
    'it is not the entry that was known before',
  );
  const entryOf = (line: string) => JSON.parse(line) as Readonly<Record<'chain' | 'number' | 'hash', unknown>>;
  const { chain, number, hash } = entryOf(lines[0] ?? '');
  const verifyWithout = async (removed: number) => {
    writeFileSync(file, `${lines.slice(removed).join('\n')}\n`);
    return run('audit', 'verify', '--file', file, '--known', `${chain}:${number}:${hash}`);
  };
  const own = lines.filter((line) => entryOf(line).chain === chain);
  expect(own.length).toBe(lines.length);
  expect([(await verifyWithout(0)).code, (await verifyWithout(1)).code]).toEqual([0, 0]);
  expect(await verifyWithout(2)).toMatchObject({ code: 1, stderr: expect.stringContaining('pass a newer head') });
  writeFileSync(file, stdout.replace('bob', 'eve'));
  const broken = await run('audit', 'verify', '--file', file);
  expect([broken.code, broken.stderr]).toEqual([
    1,
    expect.stringMatching(/broken at entry \d+: its content was changed/),
  ]);
  writeFileSync(file, `${lines[0]}\nno entry\n`);
  expect((await run('audit', 'verify', '--file', file)).stderr).toContain('line 2 is no entry');
});
