import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { checkout } from './platform/data-directory.ts';
import { runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ agents: true });
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
const send = (...more: readonly string[]) => run(['agent', 'send', 'assistant', ...more]);
/** The end of a call that is answered: on a busy machine a check may exceed its time, and the call is then refused. */
const answered = (args: readonly string[], input?: string) =>
  until('the agent answers', async () => {
    const end = await run(args, input);
    return end.code === 0 ? end : undefined;
  });
const example = readFileSync(join(checkout, 'examples/agents/assistant/agentversion.yaml'), 'utf8');

describe('portcullis up --agents', () => {
  test('portcullis up --agents loads the example agent and prints how to call it', () => {
    expect(platform.output()).toContain('the agent assistant is served');
    expect(platform.output()).toContain('agent send assistant --message');
    // This agent needs the example collection, which is absent.
    expect(platform.output()).not.toContain('handbook');
  });

  test('the card of a version has the address of the gateway, and no address of its process', async () => {
    const version = await platform.client.get<AgentVersion>(kinds.agentVersion, 'assistant-1');
    const { address = '', agentId, versionId } = version?.status ?? {};
    const card = await (await fetch(`${address}/.well-known/agent-card.json`)).text();
    expect(card).toContain(`${platform.status().addresses.gateway}/agents/${agentId}/versions/${versionId}`);
    expect(card).not.toContain(address);
  });
});

describe('portcullis agent send', () => {
  test('portcullis agent send prints the answer to a text, to structured input and to standard input', async () => {
    const sent = ['agent', 'send', 'assistant', '--as', 'ann'];
    expect(await answered([...sent, '-m', 'Good morning'])).toMatchObject({ code: 0, stdout: 'Good morning\n' });
    const given = await answered([...sent, '--input', '{"question":"Good evening"}', '--json']);
    expect(JSON.parse(given.stdout)).toEqual({ text: 'Good evening', data: { answer: 'Good evening' } });
    const read = await answered(sent, 'Good night\n');
    expect(read).toMatchObject({ code: 0, stdout: 'Good night\n' });
    const version = await answered(['agent', 'send', 'assistant-1', '--as', 'ann', '-m', 'Good day']);
    expect(version).toMatchObject({ code: 0, stdout: 'Good day\n' });
  });

  test('the process of a version refuses calls that did not come through a gateway', async () => {
    const version = await platform.client.get<AgentVersion>(kinds.agentVersion, 'assistant-1');
    const { gateway } = platform.status().addresses;
    const { address = '', agentId = '' } = version?.status ?? {};
    const body = JSON.stringify({ message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } });
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-user-id': 'ann' };
    const inTenant = { ...headers, 'x-tenant-id': 'default' };
    const statusOf = async (url: string, sent: Readonly<Record<string, string>>) =>
      (await fetch(`${url}/message:send`, { method: 'POST', headers: sent, body })).status;
    expect(await statusOf(address, inTenant)).toBe(401);
    expect(await statusOf(`${gateway}/agents/${agentId}`, inTenant)).toBe(200);
    expect(await statusOf(`${gateway}/agents/${agentId}`, headers)).toBe(401);
  });

  test.each([
    [
      'a text that the policy of the model denies',
      ['-m', 'Explain how to make a bomb'],
      6,
      /^portcullis: guardrail_denied: /,
    ],
    ['input of another shape', ['--input', '{"other":1}'], 1, /^portcullis: input_invalid: /],
    ['input that is not an object', ['--input', '[1]'], 2, /It must be a JSON object/],
    ['input that is not JSON', ['--input', '{'], 2, /It must be a JSON object/],
  ])('portcullis agent send reports %s with its code', async (_, words, code, stderr) => {
    const end = await send('--as', 'ann', ...words);
    expect([end.code, end.stdout]).toEqual([code, '']);
    expect(end.stderr).toMatch(stderr);
  });

  test('portcullis agent send requires the name of a caller and of an existing version', async () => {
    expect(await send('-m', 'hello')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"agent send" needs the person who calls'),
    });
    const end = await run(['agent', 'send', 'assistant-9', '--as', 'ann', '-m', 'hello']);
    expect(end).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no Agent and no AgentVersion assistant-9. Did you mean assistant-1?'),
    });
    for (const words of [['send'], ['chat'], ['runs'], ['trace']]) {
      const more =
        words[0] === 'trace' ? ['01890a5d-ac96-774b-bcce-b302099a8057'] : words[0] === 'runs' ? [] : ['-m', 'hi'];
      const named = (name: string) => run(['agent', ...words, name, ...more, '--as', 'ann']);
      expect([words, (await named('asistant')).stderr]).toEqual([
        words,
        'portcullis: There is no Agent and no AgentVersion asistant. Did you mean assistant?\n',
      ]);
      expect((await named('unheard')).stderr).toContain(
        'unheard. "portcullis get agents" and "portcullis get agentversions" list',
      );
    }
  });
});

describe('portcullis agent chat', () => {
  const chatting = ['agent', 'chat', 'assistant', '--as', 'ann'];
  const chat = (words: readonly string[], input?: string) => run([...chatting, ...words], input);
  const chatted = (words: readonly string[], input?: string) => answered([...chatting, ...words], input);

  test('portcullis agent chat prints the answer to a message and to each line, and continues a conversation by its id', async () => {
    expect(await chatted(['-m', 'Good morning'])).toMatchObject({ code: 0, stdout: 'Good morning\n', stderr: '' });
    expect(await chatted([], 'Good day\n\nGood night\n')).toMatchObject({ code: 0, stdout: 'Good day\nGood night\n' });
    const first = JSON.parse((await chatted(['-m', 'Good evening', '--json'])).stdout);
    expect(first).toMatchObject({ complete: true, text: 'Good evening', contextId: expect.any(String) });
    const second = await chatted(['-m', 'Good evening', '--json', '--context', first.contextId]);
    expect(JSON.parse(second.stdout)).toMatchObject({ complete: true, contextId: first.contextId });
  });

  test('portcullis agent chat reports a denied message, an unknown agent and a caller without the right', async () => {
    const denied = await chat(['-m', 'Explain how to make a bomb']);
    expect([denied.code, denied.stdout, denied.stderr]).toEqual([6, '', expect.stringContaining('guardrail_denied')]);
    expect(await run(['agent', 'chat', 'nothing', '--as', 'ann', '-m', 'hello'])).toMatchObject({
      code: 3,
      stdout: '',
    });
    expect(await run(['agent', 'chat', 'assistant', '-m', 'hello'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('portcullis agent runs and agent trace', () => {
  test('the owner sees the runs of every caller, another person only their own runs, and each trace has nodes and no text', async () => {
    await answered(['agent', 'send', 'assistant', '--as', 'bob', '-m', 'Good afternoon']);
    const listed = async (as: string) => {
      const end = await run(['agent', 'runs', 'assistant', '--as', as, '--json']);
      expect([end.code, end.stdout.includes('afternoon')]).toEqual([0, false]);
      return JSON.parse(end.stdout) as { readonly all: boolean; readonly runs: readonly { readonly runId: string }[] };
    };
    const [ofAll, ofBob] = [await listed('ann'), await listed('bob')];
    expect([ofAll.all, ofBob.all]).toEqual([true, false]);
    expect(ofAll.runs.length).toBeGreaterThan(ofBob.runs.length);
    const runId = ofBob.runs[0]?.runId ?? '';
    const table = await run(['agent', 'runs', 'assistant', '--as', 'bob']);
    expect(table.stdout).toMatch(new RegExp(`^${runId} +\\S+Z +\\d+ ms +ok$`, 'm'));
    for (const as of ['bob', 'ann']) {
      const trace = await run(['agent', 'trace', 'assistant', runId, '--as', as]);
      expect([trace.code, trace.stderr, trace.stdout.includes('afternoon')]).toEqual([0, '', false]);
      expect(trace.stdout).toMatch(/^answer +prompt +\d+ ms +\d+ ms +ok +1$/m);
    }
    const hidden = await run(['agent', 'trace', 'assistant', runId, '--as', 'eve']);
    expect(hidden).toMatchObject({ code: 3, stderr: expect.stringContaining('run_not_found') });
    const none = await run(['agent', 'runs', 'assistant', '--as', 'eve']);
    expect(none.stdout).toContain('portcullis agent send assistant --message TEXT');
  });

  test('the trace of a failed run names the code, the step and the node', async () => {
    await run(['agent', 'send', 'assistant', '--as', 'bob', '-m', 'Explain how to make a bomb']);
    const list = JSON.parse((await run(['agent', 'runs', 'assistant', '--as', 'bob', '--json'])).stdout);
    expect(list.runs[0]).toMatchObject({ code: 'guardrail_denied', step: 'entry_point' });
    const trace = await run(['agent', 'trace', 'assistant', list.runs[0].runId, '--as', 'bob']);
    expect(trace.stdout).toMatch(/^answer +prompt +\d+ ms +\d+ ms +guardrail_denied +1$/m);
    expect(trace.stdout).not.toContain('bomb');
  });
});

test('portcullis why and portcullis status show which versions of an agent gateways serve', async () => {
  const well = await run(['why', 'agent/assistant']);
  expect([well.code, well.stderr]).toEqual([0, '']);
  expect(well.stdout).toMatch(/^Agent assistant is served\.\n/);
  expect((await run(['status'])).stdout).toMatch(/^assistant +ready +assistant-1 +- +-$/m);
  const { code, stderr } = await run(['agent', 'switch', 'assistant', 'assistant-9']);
  expect([code, stderr]).toEqual([3, expect.stringContaining('There is no AgentVersion named assistant-9')]);
  const { apiVersion, kind, spec } = JSON.parse((await run(['get', 'agent', 'assistant', '-o', 'json'])).stdout);
  const missing = { apiVersion, kind, metadata: { name: 'assistant' }, spec: { ...spec, version: 'assistant-9' } };
  expect(await run(['apply', '-f', '-'], JSON.stringify(missing))).toMatchObject({ code: 0 });
  await until('portcullis why names the remedy for an agent that is switched to a missing version', async () => {
    const explained = JSON.parse((await run(['why', 'agent/assistant', '-o', 'json'])).stdout);
    return explained.agent === 'assistant' && explained.whatToDo.includes('agent/assistant');
  });
  expect(await run(['agent', 'switch', 'assistant', 'assistant-1', '--wait'])).toMatchObject({ code: 0 });
});

test('portcullis apply --wait reports why a version cannot become ready, and portcullis agent send reports the same reason', async () => {
  const guarded = example
    .replace('name: assistant-1', 'name: guarded-1')
    .replace('input:\n      mode: None', 'input:\n      mode: Policy\n      policyRef: { name: absent, revision: 1 }')
    .replace('guardrails: { input: None,', 'guardrails: { input: { policy: absent, revision: 1 },');
  const end = await run(['apply', '-f', '-', '--wait'], guarded);
  expect(end.code).toBe(9);
  expect(end.stderr).toContain('The AgentVersion guarded-1 is not ready: ');
  const sent = await run(['agent', 'send', 'guarded-1', '--as', 'ann', '-m', 'hello']);
  expect([sent.code, sent.stderr]).toEqual([1, expect.stringContaining('The AgentVersion guarded-1 is not ready: ')]);
  expect(await run(['delete', 'agentversion', 'guarded-1', '--yes'])).toMatchObject({ code: 0 });
});

describe('portcullis flow publish and the commands of versions', () => {
  const serving = async (words: readonly string[], version: string) => {
    const end = await run(words);
    expect([end.code, end.stderr]).toEqual([0, '']);
    expect(end.stdout).toMatch(new RegExp(`Agent desk serves ${version}\\b`));
  };

  test('a published flow belongs to its author, and each further version, trial and rollback is served', async () => {
    using folder = temporaryFolder();
    const desk = join(folder.path, 'desk');
    const flow = join(desk, 'flow.yaml');
    expect(await run(['flow', 'init', desk])).toMatchObject({ code: 0 });
    expect(await run(['flow', 'publish', desk])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name the owner'),
    });
    await serving(['flow', 'publish', desk, '--as', 'ann', '--allow', 'bob'], 'desk-1');
    const ask = (as: string) => run(['agent', 'send', 'desk', '--as', as, '-m', 'hello']);
    for (const person of ['ann', 'bob']) expect(await ask(person)).toMatchObject({ code: 0, stdout: 'hello\n' });
    expect(await ask('eve')).toMatchObject({ code: 3, stderr: expect.stringContaining('not_found') });
    const { stderr, code } = await run(['agent', 'promote', 'desk']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no version on trial')]);
    expect(await run(['agent', 'rollback', 'desk'])).toMatchObject({ code: 2 });

    writeFileSync(flow, readFileSync(flow, 'utf8').replace('version: 1', 'version: 2'));
    await serving(['flow', 'publish', desk], 'desk-2');
    await serving(['rollback', 'agent/desk', '--wait'], 'desk-1');
    await serving(['rollback', 'agent/desk', '--to', 'desk-2', '--wait'], 'desk-2');
    await serving(['agent', 'rollback', 'desk', '--to', 'desk-1', '--wait'], 'desk-1');
    const numbered = await run(['rollback', 'agent/desk', '--to', '1']);
    expect([numbered.code, numbered.stderr]).toEqual([3, expect.stringContaining('There is no AgentVersion named 1')]);
    const dry = await run(['agent', 'switch', 'desk', 'desk-2', '--dry-run', 'server', '--wait']);
    expect(dry).toMatchObject({ code: 0, stdout: 'Agent desk set to desk-2 (server dry run)\n' });
    const compared = await run(['agent', 'switch', 'desk', 'desk-2', '--dry-run', 'client', '-o', 'json']);
    expect(JSON.parse(compared.stdout).spec.version).toBe('desk-2');
    await serving(['agent', 'switch', 'desk', 'desk-2', '--canary', '50', '--wait'], 'desk-1');
    await serving(['agent', 'promote', 'desk', '--wait'], 'desk-2');
    await serving(['agent', 'switch', 'desk', 'desk-1', '--wait'], 'desk-1');
    // The versions of an agent do not change its permitted callers.
    expect(await ask('bob')).toMatchObject({ code: 0, stdout: 'hello\n' });
    expect(await ask('eve')).toMatchObject({ code: 3 });
  });

  test('every change of an Agent keeps its author and its message until the next change', async () => {
    using folder = temporaryFolder();
    const memo = join(folder.path, 'memo');
    const flow = join(memo, 'flow.yaml');
    const file = join(folder.path, 'agent.json');
    const noteOf = async (kind: string, name: string) =>
      (await run(['describe', kind, name])).stdout.match(/^Changed by: +\S+ \(command line\)(.*)$/m)?.[1];
    await run(['flow', 'init', memo]);
    expect((await run(['flow', 'publish', memo, '--as', 'ann', '-m', 'the first'])).stderr).toBe('');
    expect([await noteOf('agent', 'memo'), await noteOf('agentversion', 'memo-1')]).toEqual([
      ': the first',
      ': the first',
    ]);
    writeFileSync(flow, readFileSync(flow, 'utf8').replace('version: 1', 'version: 2'));
    expect((await run(['flow', 'publish', memo])).stderr).toBe('');
    expect([await noteOf('agent', 'memo'), await noteOf('agentversion', 'memo-2')]).toEqual(['', '']);
    const { apiVersion, kind, spec } = JSON.parse((await run(['get', 'agent', 'memo', '-o', 'json'])).stdout);
    const metadata = { name: 'memo' };
    writeFileSync(file, JSON.stringify({ apiVersion, kind, metadata, spec: { ...spec, version: 'memo-1' } }));
    for (const words of [
      ['apply', '-f', file],
      ['agent', 'switch', 'memo', 'memo-2'],
      ['rollback', 'agent/memo', '--to', 'memo-1'],
      ['agent', 'switch', 'memo', 'memo-2', '--canary', '50'],
      ['agent', 'promote', 'memo'],
      ['agent', 'rollback', 'memo', '--to', 'memo-1'],
      ['edit', 'agent', 'memo'],
    ]) {
      const end = await runInProcess([...words, '-m', `by ${words[0]} ${words[1]}`], {
        data: platform.data,
        environment: { KUBE_EDITOR: 'sed -i s/memo-1/memo-2/' },
      });
      expect([words, end.code, end.stderr]).toEqual([words, 0, '']);
      expect([words, await noteOf('agent', 'memo')]).toEqual([words, `: by ${words[0]} ${words[1]}`]);
    }
    expect((await run(['apply', '-f', file])).stdout).toBe('Agent memo configured\n');
    expect(await noteOf('agent', 'memo')).toBe('');
  });

  test('a published version with fewer checks is created only after a confirmation, and the Agent keeps its labels', async () => {
    using folder = temporaryFolder();
    const counter = join(folder.path, 'counter');
    await run(['flow', 'init', counter]);
    const manifest = join(counter, 'manifest.yaml');
    const unchecked = readFileSync(manifest, 'utf8');
    const checked = unchecked.replace('input: None', 'input: { policy: guarded-chat, revision: 1 }');
    writeFileSync(manifest, checked);
    const version = await run(['flow', 'version', counter]);
    const agent = {
      apiVersion: 'portcullis.dev/v1alpha1',
      kind: 'Agent',
      metadata: { name: 'counter', labels: { team: 'shop' } },
      spec: {
        version: 'counter-1',
        owner: { issuer: 'development:default', subject: 'ann' },
        workspace: 'examples',
        access: { view: [{ kind: 'AuthenticatedAll' }], invoke: [{ kind: 'AuthenticatedAll' }] },
      },
    };
    const first = await run(['apply', '-f', '-'], `${version.stdout}---\n${JSON.stringify(agent)}`);
    expect([first.code, first.stderr]).toEqual([0, '']);

    const flow = join(counter, 'flow.yaml');
    writeFileSync(flow, readFileSync(flow, 'utf8').replace('version: 1', 'version: 2'));
    writeFileSync(manifest, unchecked);
    const refused = await run(['flow', 'publish', counter]);
    expect(refused).toMatchObject({ code: 13, stdout: '' });
    expect(refused.stderr).toContain('Agent counter would serve the version counter-2, which leaves');
    expect(await run(['get', 'agentversion', 'counter-2'])).toMatchObject({ code: 3 });
    const published = await run(['flow', 'publish', counter, '--yes', '-o', 'json']);
    expect([published.code, published.stderr]).toEqual([0, '']);
    expect(JSON.parse(published.stdout)).toMatchObject({
      metadata: { labels: { team: 'shop' } },
      spec: { version: 'counter-2' },
    });
    expect(await run(['delete', 'agents', 'counter', '--yes'])).toMatchObject({ code: 0 });
  });

  test('a version without an Agent is not reachable, and the message contains the remedy', async () => {
    using folder = temporaryFolder();
    const alone = join(folder.path, 'alone');
    await run(['flow', 'init', alone]);
    const version = await run(['flow', 'version', alone]);
    expect(await run(['apply', '-f', '-', '--wait'], version.stdout)).toMatchObject({ code: 0 });
    const end = await run(['agent', 'send', 'alone-1', '--as', 'ann', '-m', 'hello']);
    expect([end.code, end.stderr]).toEqual([1, expect.stringContaining('No Agent serves the AgentVersion alone-1')]);
  });
});

test('a deleted example agent is not created again, and agent versions run even without --agents', async () => {
  expect(await run(['delete', 'agents', 'assistant', 'desk', '--yes'])).toMatchObject({ code: 0 });
  expect(await run(['delete', 'agentversion', 'assistant-1', '--yes'])).toMatchObject({ code: 0 });
  rmSync(join(platform.data, 'apply/assistant.yaml'));
  const { data } = platform;
  await platform.end('SIGINT');
  const renamed = example.replace('name: assistant-1', 'name: assistant-2');
  const again = await startPlatform({ data, agents: true });
  const { gateway } = again.status().addresses;
  try {
    expect(again.output()).not.toContain('assistant is served');
    expect((await run(['get', 'agentversions', '-o', 'name'])).stdout).not.toContain('assistant');
  } finally {
    await again.end('SIGINT');
  }
  platform = await startPlatform({ data });
  expect(platform.status().addresses.gateway).toBe(gateway);
  expect(await run(['apply', '-f', '-', '--wait'], renamed)).toMatchObject({ code: 0 });
  const end = await run(['agent', 'send', 'assistant-2', '--as', 'ann', '-m', 'hello']);
  expect(end).toMatchObject({ code: 0, stdout: 'hello\n' });
});
