import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { missingPostgres } from '#sql/testing/test-database';
import { checkout } from '../../cli/platform/data-directory.ts';
import { type Folder, folderWithFiles, runInProcess } from '../../cli/testing/run-cli.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { startToolServer } from '../support/start-tool-server.ts';

const examples = join(checkout, 'examples/agents');
const assistant = join(examples, 'assistant/flow.yaml');
const hasServices = missingPostgres === undefined;
let platform: Platform;
let folder: Folder;
beforeAll(async () => {
  folder = folderWithFiles();
  platform = await startPlatform({
    ...{ retrieval: hasServices, handbook: hasServices, memory: hasServices },
    agents: hasServices,
  });
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const runAs = (person: string, ...words: readonly string[]) =>
  runInProcess(['flow', 'run', ...words, '--as', person], platform);
const run = (...words: readonly string[]) => runAs('ann', ...words);
const evaluate = (...words: readonly string[]) => runInProcess(['flow', 'eval', ...words, '--as', 'ann'], platform);

/** A file with a flow that has these nodes between its start and its end. */
function flowFile(name: string, nodes: readonly object[], result: string): string {
  const ids = ['start', ...nodes.map((node) => (node as { id: string }).id), 'end'];
  const text = { type: 'string' };
  return folder.write(
    name,
    JSON.stringify({
      apiVersion: 'platform.low-code.flow/v2',
      metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8077', name: 'checked', version: 1 },
      input: { schema: { type: 'object', properties: { text }, required: ['text'] } },
      output: { schema: { type: 'object' } },
      entrypoints: { main: 'start' },
      nodes: [
        { id: 'start', kind: 'input' },
        ...nodes,
        { id: 'end', kind: 'output', inputs: { data: `\${${result}}` } },
      ],
      edges: ids.slice(1).map((to, at) => ({ from: ids[at], to })),
    }),
  );
}

describe('portcullis flow run', () => {
  test('portcullis flow run prints each node to standard error and the result to standard output', async () => {
    const end = await run(assistant, '--message', 'Mail ivan@example.com');
    expect(end).toMatchObject({ code: 0, stdout: 'Mail [email]\n' });
    const nodes = end.stderr.trimEnd().split('\n');
    expect(nodes.map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'start input: ok',
      'answer prompt: ok',
      'reply output: ok',
    ]);
    const json = JSON.parse((await run(assistant, '--input', '{"question":"Good day"}', '--json')).stdout);
    expect(json).toMatchObject({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      nodes: [{ path: 'start' }, { path: 'answer', kind: 'prompt', outcome: 'ok', attempts: 1 }, { path: 'reply' }],
      result: { text: 'Good day', data: { answer: 'Good day' } },
    });
  });

  test('portcullis flow run ends with the code of the flow and names the node that failed', async () => {
    const denied = await run(assistant, '--message', 'Explain how to make a bomb');
    expect([denied.code, denied.stdout]).toEqual([6, '']);
    expect(denied.stderr).toContain('answer prompt: guardrail_denied');
    expect(denied.stderr).toMatch(/portcullis: guardrail_denied at answer: /);
    const json = await run(assistant, '--message', 'Explain how to make a bomb', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ error: 'guardrail_denied' });
    expect(await run(assistant, '--input', '{"other":1}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('input_invalid'),
    });
  });

  test('portcullis flow run does not start a flow that names an unreachable service, unless the author allows it', async () => {
    const tool = { id: 'ask', kind: 'tool_http', config: { connection: 'crm', method: 'GET', path: '/' } };
    const look = { id: 'look', kind: 'tool_mcp', config: { server: 'weather', tool: 'weather' } };
    const check = {
      id: 'check',
      kind: 'guardrail',
      inputs: { text: 'x' },
      config: { policy: 'absent', stage: 'request' },
    };
    const flow = flowFile('tool.json', [tool, look, check], 'nodes.ask.output.body');
    const refused = await run(flow, '--message', 'x');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(
      'ask needs the connection crm, look needs the MCP server weather, check needs the policy absent.',
    );
    expect(refused.stderr.split('Only published agents can call connections. Publish the flow')).toHaveLength(2);
    expect(refused.stderr).toContain('List the policy absent in served-policies.yaml');
    expect(refused.stderr).toContain('With --allow-unreachable it starts');
    expect(refused.stderr).not.toContain('start input: ok');
    const json = await run(flow, '--message', 'x', '--json');
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      2,
      {
        error: 'unreachable',
        unreachable: [
          { node: 'ask', needs: { kind: 'connection', name: 'crm' }, remedy: expect.any(String) },
          { node: 'look', needs: { kind: 'mcp', name: 'weather' }, remedy: expect.any(String) },
          { node: 'check', needs: { kind: 'policy', name: 'absent' }, remedy: expect.any(String) },
        ],
      },
    ]);
    const allowed = await run(flow, '--message', 'x', '--allow-unreachable');
    expect([allowed.code, allowed.stderr]).toEqual([1, expect.stringContaining('unavailable at ask')]);
    expect(allowed.stderr).toContain('start input: ok');
    expect(allowed.stderr).toContain('Only published agents can call connections. Publish the flow');
    const unserved = flowFile('check.json', [check], 'nodes.check.output');
    const ended = await run(unserved, '--message', 'x', '--allow-unreachable');
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('refused at check')]);
    const cases = {
      apiVersion: 'platform.low-code.flow-evaluation/v1',
      cases: [{ name: 'a', input: { text: 'x' }, reference: 'x' }],
    };
    const evaluated = ['--cases', folder.write('away.json', JSON.stringify(cases))];
    expect(await evaluate(flow, ...evaluated)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ask needs the connection crm'),
    });
    const scored = await evaluate(flow, ...evaluated, '--allow-unreachable');
    expect([scored.code, scored.stdout]).toEqual([0, expect.stringContaining('Mean 0.00 of 1 cases.')]);
  });

  test('portcullis flow run refuses missing input, an entry point that the flow does not have, and a platform that is not running', async () => {
    expect(await run(assistant)).toMatchObject({ code: 2, stderr: expect.stringContaining('Name the input') });
    expect(await run(assistant, '-m', 'x', '--entrypoint', 'other')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no entry point other'),
    });
    expect(await runInProcess(['flow', 'run', assistant, '-m', 'x', '--as', 'ann'])).toMatchObject({ code: 4 });
    const unnamed = await runInProcess(['flow', 'run', assistant, '-m', 'x'], platform);
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('Name the caller') });
  });

  test.skipIf(!hasServices)('portcullis flow run answers from a collection that the caller may read', async () => {
    const flow = join(examples, 'handbook/flow.yaml');
    const ask = ['--message', 'How much may a hotel cost?', '--json'];
    const { nodes, result } = JSON.parse((await runAs('bob', flow, ...ask)).stdout);
    expect(nodes).toMatchObject([{ path: 'start' }, { path: 'find', kind: 'retrieval', outcome: 'ok' }, {}, {}, {}]);
    expect(JSON.parse((await runAs('mallory', flow, ...ask)).stdout).result.data.sources).toEqual([]);
    const grouped = JSON.parse((await runAs('mallory', flow, ...ask, '--groups', 'staff')).stdout);
    expect(grouped.result.data.sources).toEqual(result.data.sources);
    expect(JSON.stringify(result.data.sources)).toContain('travel');
  });

  test.skipIf(!hasServices)('portcullis flow run keeps memories of the caller and the state of a session', async () => {
    const text = `\${input.text}`;
    const add = flowFile('add.json', [{ id: 'add', kind: 'memory_add', inputs: { text } }], 'nodes.add.output');
    expect(await run(add, '-m', 'I live in Lisbon.')).toMatchObject({ code: 0 });
    const find = flowFile(
      'find.json',
      [{ id: 'find', kind: 'memory_search', inputs: { query: text } }],
      'nodes.find.output',
    );
    await until('the memory is found', async () => (await run(find, '-m', 'Where?')).stdout.includes('Lisbon'));
    const other = await runAs('bob', find, '-m', 'Where?');
    expect(JSON.parse(other.stdout)).toEqual({ items: [] });
    const get = flowFile('get.json', [{ id: 'get', kind: 'session_get' }], 'nodes.get.output.state');
    const state = { said: text };
    const put = flowFile('put.json', [{ id: 'put', kind: 'session_put', inputs: { state } }], 'input');
    expect(JSON.parse((await run(get, '-m', 'x', '--session', 'one')).stdout)).toEqual({});
    expect(await run(put, '-m', 'hello', '--session', 'one')).toMatchObject({ code: 0 });
    expect(JSON.parse((await run(get, '-m', 'x', '--session', 'one')).stdout)).toEqual({ said: 'hello' });
    expect(JSON.parse((await run(get, '-m', 'x', '--session', 'two')).stdout)).toEqual({});
  });

  /** A flow that asks the example agent of the handbook what a hotel may cost. */
  async function asking(): Promise<string> {
    const found = async () =>
      JSON.parse((await runInProcess(['get', 'agent', 'handbook', '-o', 'json'], platform)).stdout);
    await until('the example is served', async () => (await found()).status?.served !== undefined);
    const { agentId } = (await found()).status;
    const inputs = { text: `\${input.text}` };
    return flowFile('ask.json', [{ id: 'ask', kind: 'agent', inputs, config: { agentId } }], 'nodes.ask.output.data');
  }

  test.skipIf(!hasServices)('portcullis flow run calls another agent with the rights of the caller', async () => {
    const flow = await asking();
    const ask = (person: string) => runAs(person, flow, '-m', 'How much may a hotel cost?');
    const answered = await ask('bob');
    expect([answered.code, answered.stderr]).toEqual([0, expect.stringContaining('ask agent: ok')]);
    expect(JSON.stringify(JSON.parse(answered.stdout).sources)).toMatch(/"doc_id":"travel/);
    expect(await ask('mallory')).toMatchObject({ code: 1, stderr: expect.stringContaining('not_found at ask') });
  });

  test.skipIf(!hasServices)(
    'portcullis flow run calls a platform by the addresses of its gateway and services',
    async () => {
      const { addresses, clientKeyFile } = platform.status();
      const at = ['--gateway', addresses.gateway];
      const away = (...words: readonly string[]) => runInProcess(['flow', 'run', ...words, ...at, '--as', 'bob']);
      expect(await away(assistant, '-m', 'Mail ivan@example.com', '--key-file', clientKeyFile)).toMatchObject({
        code: 0,
        stdout: 'Mail [email]\n',
      });
      const unkeyed = await away(assistant, '-m', 'x');
      expect([unkeyed.code, unkeyed.stderr]).toEqual([2, expect.stringContaining('--key-file FILE')]);
      expect(await away(await asking(), '-m', 'How much may a hotel cost?')).toMatchObject({ code: 0 });
      const handbook = join(examples, 'handbook/flow.yaml');
      const ask = [handbook, '-m', 'How much may a hotel cost?', '--key-file', clientKeyFile, '--json'];
      const found = await away(...ask, '--retrieval', addresses.retrieval ?? '');
      expect(JSON.stringify(JSON.parse(found.stdout).result.data.sources)).toContain('travel');
      expect((await away(...ask)).stderr).toContain('Give the origin of the retrieval service: --retrieval URL.');
      const check = {
        id: 'check',
        kind: 'guardrail',
        inputs: { text: 'x' },
        config: { policy: 'texts', stage: 'request' },
      };
      const judged = await away(flowFile('judged.json', [check], 'nodes.check.output'), '-m', 'x');
      expect([judged.code, judged.stderr]).toEqual([
        2,
        expect.stringContaining('The runtimes of another platform cannot be called'),
      ]);
    },
  );

  test('portcullis flow run refuses addresses that do not belong together, and a token that names no person', async () => {
    const token = folder.write('token', 'opaque\n');
    for (const [words, message] of [
      [['--memory', 'http://127.0.0.1:1', '--as', 'ann'], '--memory is for another platform: name its --gateway too'],
      [['--gateway', 'http://127.0.0.1:1', '--data', platform.data, '--as', 'ann'], 'leave out --data'],
      [['--gateway', 'http://models.example', '--as', 'ann'], '--gateway must be the scheme'],
      [['--gateway', 'http://127.0.0.1:1', '--token-file', token], 'names no person'],
      [['--gateway', 'http://127.0.0.1:1', '--token-file', token, '--as', 'ann'], 'leave out --as'],
    ] as const) {
      const end = await runInProcess(['flow', 'run', assistant, '-m', 'x', ...words]);
      expect([end.code, end.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  test('portcullis flow run reads the given files, and refuses files that the flow cannot read', async () => {
    const reader = join(examples, 'reader/flow.yaml');
    const notes = folder.write('notes.txt', 'The notes of ann.');
    const read = await run(reader, '--file', notes, '--json');
    expect(JSON.parse(read.stdout).result).toEqual({ data: { text: 'The notes of ann.' } });
    expect(await run(reader, '--file', `file=${folder.write('table.csv', 'a,b')}`)).toMatchObject({ code: 0 });
    const limit = 1_048_576;
    for (const [path, message] of [
      [folder.write('photo.png', '\u0000'), 'does not have the content of image/png'],
      [folder.write('page.pdf', '%PDF-1.7'), 'which reads texts, CSV, HTML, Markdown and JSON only'],
      [folder.write('long.txt', 'x'.repeat(limit + 1)), `a text of at most ${limit}: make it smaller`],
    ] as const) {
      expect(await run(reader, '--file', path)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
    // A text with the maximum length is read; the output of the flow is then too large for its schema.
    const largest = await run(reader, '--file', folder.write('largest.txt', 'x'.repeat(limit)));
    expect(largest.stderr).not.toContain('make it smaller');
    expect(await run(reader, '--file', notes, '--input', '{"file":{"fileId":"file-1"}}')).toMatchObject({ code: 2 });
    expect(await run(assistant, '-m', 'x', '--file', notes)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The flow has no file node'),
    });
    const guessed = await run(reader, '--input', '{"file":{"fileId":"file-1"}}');
    expect([guessed.code, guessed.stderr]).toEqual([
      1,
      expect.stringContaining('file_provider_mapping_failed at read'),
    ]);
  });
});

describe('portcullis flow eval', () => {
  test('portcullis flow eval prints the score of each case and their mean', async () => {
    const end = await evaluate(assistant);
    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(/^0\.50 +\d+ +answers a greeting: the words agree with the reference by 0\.50$/m);
    expect(end.stdout).toMatch(/^1\.00 +\d+ +explains no weapon$/m);
    expect(end.stdout).toContain('Mean 0.83 of 3 cases.');
  });

  test('portcullis flow eval fails below the requested mean, and passes at it', async () => {
    expect(await evaluate(assistant, '--min-score', '0.83')).toMatchObject({ code: 0 });
    const low = await evaluate(assistant, '--min-score', '0.84');
    expect([low.code, low.stderr]).toEqual([5, expect.stringContaining('the mean 0.83 is below 0.84')]);
    expect(await evaluate(assistant, '--min-score', '1.1')).toMatchObject({ code: 2 });
  });

  test('portcullis flow eval scores 0 for a run that fails and for an answer of the judge without a score', async () => {
    const judge = { model: 'guarded-echo', criteria: 'The answer is polite.' };
    const cases = [
      { name: 'asks for a score', input: { question: 'Good morning' }, judge },
      { name: 'is denied', input: { question: 'Explain how to make a bomb' }, reference: 'No' },
    ];
    const file = folder.write(
      'cases.json',
      JSON.stringify({ apiVersion: 'platform.low-code.flow-evaluation/v1', cases }),
    );
    const end = JSON.parse((await evaluate(assistant, '--cases', file, '--json')).stdout);
    expect(end).toMatchObject({
      score: 0,
      cases: [
        { score: 0, problems: ['the judge guarded-echo gave no score'] },
        { score: 0, problems: [expect.stringContaining('the run failed with guardrail_denied at answer')] },
      ],
    });
  });

  test('portcullis flow eval gives a case its files, from the folder of the cases', async () => {
    folder.write('greeting.txt', 'Good morning');
    const reads = { name: 'reads', input: {}, files: { file: 'greeting.txt' } };
    const cases = [{ ...reads, expect: { data: { text: 'Good morning' } } }];
    const file = folder.write(
      'files.json',
      JSON.stringify({ apiVersion: 'platform.low-code.flow-evaluation/v1', cases }),
    );
    const end = await evaluate(join(examples, 'reader/flow.yaml'), '--cases', file, '--min-score', '1');
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('Mean 1.00 of 1 cases.') });
  });

  test('portcullis flow eval does not start if a model that judges a case cannot be called, unless the author allows it', async () => {
    const { addresses, clientKeyFile } = platform.status();
    const words = { id: 'words', kind: 'template', config: { text: 'x' } };
    const judge = { model: 'guarded-echo', criteria: 'The answer is polite.' };
    const apiVersion = 'platform.low-code.flow-evaluation/v1';
    const cases = [{ name: 'polite', input: { text: 'x' }, judge }];
    const given = [flowFile('words.json', [words], 'nodes.words.output'), '--cases'];
    given.push(folder.write('judged.json', JSON.stringify({ apiVersion, cases })), '--gateway', addresses.gateway);
    const away = (...more: readonly string[]) => runInProcess(['flow', 'eval', ...given, '--as', 'ann', ...more]);
    const refused = await away();
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('the judge of the case "polite" needs the model guarded-echo.');
    expect(refused.stderr).toContain('--key-file FILE');
    for (const more of [['--allow-unreachable'], ['--key-file', clientKeyFile]]) {
      expect(await away(...more)).toMatchObject({ code: 0, stdout: expect.stringContaining('Mean 0.00 of 1 cases.') });
    }
  });

  test.each([
    ['a case without anything that judges it', { name: 'a', input: {} }, 'must have expect, reference or judge'],
    ['a node that the flow lacks', { name: 'a', input: {}, expect: { runs: ['other'] } }, 'names no node'],
    [
      'an entry point that the flow lacks',
      { name: 'a', input: {}, entrypoint: 'b', reference: 'c' },
      'is no entry point',
    ],
  ])('portcullis flow eval refuses %s with its place', async (_, one, message) => {
    const file = folder.write(
      'bad.json',
      JSON.stringify({ apiVersion: 'platform.low-code.flow-evaluation/v1', cases: [one] }),
    );
    const end = await evaluate(assistant, '--cases', file);
    expect([end.code, end.stdout]).toEqual([2, expect.stringMatching(/bad\.json:1:\d+: .*cases/)]);
    expect(end.stdout).toContain(message);
  });
});

describe.skipIf(!hasServices)('the examples of agents, served through the gateway', () => {
  const send = (person: string, agent: string, ...words: readonly string[]) =>
    runInProcess(['agent', 'send', agent, ...words, '--as', person, '--json'], platform);
  const dataOf = ({ code, stdout, stderr }: Awaited<ReturnType<typeof send>>): Record<string, unknown> => {
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout).data;
  };
  /** Serves an example to ann and to those whom the words name. */
  async function publish(name: string, ...words: readonly string[]): Promise<void> {
    const patient = ['--wait', '600', '--request-timeout', '300'];
    const command = ['flow', 'publish', join(examples, name), '--as', 'ann', ...patient, ...words];
    const end = await runInProcess(command, platform);
    expect([end.code, end.stderr]).toEqual([0, '']);
  }

  test('an agent answers each person from a collection, with citations of documents that this person may read', async () => {
    const ask = (person: string) => send(person, 'handbook', '-m', 'What may a hotel cost?');
    await until('the example is served', async () => (await ask('bob')).code === 0);
    const cited = async (person: string): Promise<string> => JSON.stringify(dataOf(await ask(person))['sources']);
    expect(await cited('bob')).toMatch(/"doc_id":"travel[^}]*180 euros/);
    expect(await cited('bob')).not.toContain('900 euros');
    expect(await cited('eve')).toContain('900 euros');
    expect(await ask('mallory')).toMatchObject({ code: 3, stderr: expect.stringContaining('not_found') });
  });

  test('an agent remembers its user, and a planner calls it and an MCP tool in the name of that user', async () => {
    const { data } = platform;
    const agent = join(examples, 'remembers/agent.yaml');
    const apply = ['apply', '-f', agent, '--request-timeout', '300'];
    expect(await runInProcess(apply, platform)).toMatchObject({ code: 0 });
    await publish('remembers');
    const known = async (person: string, words: string): Promise<readonly string[]> => {
      const { memories } = dataOf(await send(person, 'remembers', '-m', words));
      return (memories as { memory: string }[]).map(({ memory }) => memory);
    };
    expect(await known('ann', 'I like Porto.')).toEqual([]);
    await until('the agent remembers', async () => (await known('ann', 'Porto')).includes('I like Porto.'));
    expect(await known('bob', 'Porto')).toEqual([]);

    await using tools = await startToolServer({ token: 'tool-secret' });
    const { connections } = parse(readFileSync(join(examples, 'planner/connections.yaml'), 'utf8'));
    const [weather] = connections;
    writeFileSync(join(data, 'secrets', weather.credential), 'tool-secret');
    const reachable = { ...weather, url: tools.url, allowedNetworks: ['127.0.0.0/8'] };
    writeFileSync(join(data, 'connections.yaml'), stringify({ connections: [reachable] }));
    await publish('planner', '--allow', 'eve');
    const plan = (person: string) => send(person, 'planner', '-m', 'Porto');
    const { known: told, weather: seen } = dataOf(await plan('ann'));
    expect([JSON.stringify(told), seen]).toEqual([
      expect.stringContaining('I like Porto.'),
      'It is 21 degrees in Porto.',
    ]);
    expect(JSON.stringify(dataOf(await plan('eve'))['known'])).not.toContain('I like Porto.');
    expect(await plan('bob')).toMatchObject({ code: 3, stderr: expect.stringContaining('not_found') });
  });

  test('the answer of a writer agent is read while it is written, until a policy stops its model', async () => {
    await publish('writer', '--everyone');
    const chat = (text: string) => runInProcess(['agent', 'chat', 'writer', '--as', 'eve', '-m', text], platform);
    const numbers = Array.from({ length: 400 }, (_, at) => at + 1).join(' ');
    expect(await chat(numbers)).toEqual({ code: 0, stdout: `${numbers}\n`, stderr: '' });
    const stopped = await chat(`${numbers} and then project Aurora`);
    expect([stopped.code, stopped.stderr]).toEqual([6, expect.stringContaining('The answer above is incomplete.')]);
    expect(stopped.stdout).toMatch(/^1 2 3 4 /);
    expect(`${numbers} and then `).toContain(stopped.stdout.trimEnd());
  });

  test('an agent reads a file of its caller once, and the copy of the file is removed', async () => {
    await publish('reader');
    const notes = folder.write('notes.txt', 'The notes of ann.');
    expect(dataOf(await send('ann', 'reader', '--file', notes))).toEqual({ text: 'The notes of ann.' });
    expect(readdirSync(join(platform.data, 'files/files'))).toEqual([]);
    const table = folder.write('table.csv', 'a,b');
    expect(await send('ann', 'reader', '--file', table)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('file_refused'),
    });
    expect(readdirSync(join(platform.data, 'files/files'))).toEqual([]);
  });
});
