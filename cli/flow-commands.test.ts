import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkout } from './platform/data-directory.ts';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

const example = join(checkout, 'examples/agents/handbook');
const flow = join(example, 'flow.yaml');
const textOf = (path: string): string => readFileSync(path, 'utf8');

describe('portcullis flow init', () => {
  test('portcullis flow init writes a flow that passes its own tests, with another id each time', async () => {
    using folder = folderWithFiles();
    const ids = [];
    for (const name of ['one', 'two']) {
      const at = join(folder.path, name);
      const made = await runInProcess(['flow', 'init', at]);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout).toContain(`portcullis flow test ${at}/flow.yaml`);
      const run = await runInProcess(['flow', 'test', join(at, 'flow.yaml')]);
      expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 tests passed') });
      ids.push(parse(textOf(join(at, 'flow.yaml'))).metadata.flowId);
    }
    expect(new Set(ids).size).toBe(2);
  });

  test('portcullis flow init changes no existing file', async () => {
    using folder = folderWithFiles();
    const file = folder.write('flow.yaml', 'mine');
    const end = await runInProcess(['flow', 'init', folder.path]);
    expect([end.code, end.stderr]).toEqual([2, `portcullis: ${file} exists: choose another folder.\n`]);
    expect([textOf(file), existsSync(join(folder.path, 'tests.yaml'))]).toEqual(['mine', false]);
  });

  test('portcullis flow init refuses an invalid flow name', async () => {
    using folder = folderWithFiles();
    expect(await runInProcess(['flow', 'init', join(folder.path, 'my agent')])).toMatchObject({ code: 2, stdout: '' });
    expect(existsSync(join(folder.path, 'my agent'))).toBe(false);
  });
});

describe('portcullis flow check', () => {
  test('portcullis flow check prints the digest and the requirements of a flow', async () => {
    const end = await runInProcess(['flow', 'check', flow, '--tests', join(example, 'tests.yaml'), '--json']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(end.stdout)).toEqual({
      name: 'handbook',
      version: 1,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      nodes: 6,
      requires: [
        { kind: 'collection', name: 'handbook' },
        { kind: 'model', name: 'guarded-echo' },
      ],
      tests: 4,
    });
  });

  test('portcullis flow check prints each problem with file, line, column, node and path', async () => {
    using folder = folderWithFiles();
    const broken = textOf(flow)
      .replace('collection: handbook, topK: 4', 'collection: handbook, topK: 400')
      .replace('kind: prompt', 'kind: code');
    const file = folder.write('flow.yaml', broken);
    const end = await runInProcess(['flow', 'check', file]);
    expect([end.code, end.stderr]).toEqual([
      2,
      `portcullis: ${file} is refused for 2 problems: the lines above name each place.\n`,
    ]);
    const lines = end.stdout.trim().split('\n');
    expect(lines[0]).toMatch(
      new RegExp(`^${file}:26:37: node find, nodes\\[1\\]\\.config\\.topK must be at most 100$`),
    );
    expect(lines[1]).toMatch(new RegExp(`^${file}:34:5: node answer, nodes\\[3\\]\\.kind must be`));
  });

  test('portcullis flow check also prints the problems as JSON', async () => {
    using folder = folderWithFiles();
    const file = folder.write('flow.yaml', 'nodes: []');
    const end = await runInProcess(['flow', 'check', file, '--json']);
    expect(JSON.parse(end.stdout).problems[0]).toMatchObject({ code: 'shape', line: 1, column: 1, path: 'apiVersion' });
    expect(JSON.parse(end.stderr)).toMatchObject({ error: { code: 'usage' } });
  });

  test('portcullis flow check compares a publish manifest with the flow', async () => {
    using folder = folderWithFiles();
    const file = folder.write('manifest.yaml', 'apiVersion: platform.low-code.publish-manifest/v1');
    const end = await runInProcess(['flow', 'check', flow, '--manifest', file]);
    expect(end).toMatchObject({ code: 2, stdout: expect.stringContaining(`${file}:1:1: apiVersion must be`) });
  });

  test('portcullis flow check finds subflows in a folder by their digests', async () => {
    using folder = folderWithFiles();
    const { sha256 } = JSON.parse((await runInProcess(['flow', 'check', flow, '--json'])).stdout);
    const sub = `id: answer\n    kind: subflow\n    inputs: { question: "\${input.question}" }\n    config: { flowId: 01890a5d-ac96-774b-bcce-b302099a8057, sha256: ${sha256}, entrypoint: main }\n`;
    const made = join(folder.path, 'outer');
    await runInProcess(['flow', 'init', made]);
    const file = join(made, 'flow.yaml');
    const outer = folder.write('outer.yaml', textOf(file).replace(/id: answer\n(.|\n)*?(?= {2}- id: reply)/, sub));
    expect(await runInProcess(['flow', 'check', outer, '--subflows', example])).toMatchObject({ code: 0, stderr: '' });
    const without = await runInProcess(['flow', 'check', outer]);
    expect([without.code, without.stdout]).toEqual([
      2,
      expect.stringContaining('names no flow that was given with this one'),
    ]);
  });

  test('portcullis flow check names a file that does not exist', async () => {
    const end = await runInProcess(['flow', 'check', '/no/such/flow.yaml']);
    expect(end).toEqual({
      code: 3,
      stdout: '',
      stderr: 'portcullis: There is no file /no/such/flow.yaml: check the path.\n',
    });
  });
});

describe('portcullis flow test', () => {
  test('portcullis flow test runs the tests in the folder of the flow', async () => {
    const end = await runInProcess(['flow', 'test', flow]);
    expect(end).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('4 of 4 tests passed') });
  });

  test('portcullis flow test prints why a test fails and exits with 5', async () => {
    using folder = folderWithFiles();
    const file = folder.write(
      'tests.yaml',
      textOf(join(example, 'tests.yaml')).replace('skips: [answer]', 'runs: [answer]'),
    );
    const end = await runInProcess(['flow', 'test', flow, '--tests', file]);
    expect(end.code).toBe(5);
    expect(end.stdout).toContain('FAILED  asks no model when nothing was found: the node answer did not run\n');
    expect(end.stdout).toContain('3 of 4 tests passed');
    expect(end.stderr).toBe(
      `portcullis: ${flow}: 1 of 4 tests failed: asks no model when nothing was found: the node answer did not run. Correct the flow, or the test.\n`,
    );
  });
});

describe('portcullis flow graph', () => {
  test('portcullis flow graph draws every node and every case as SVG', async () => {
    const end = await runInProcess(['flow', 'graph', flow]);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toContain('<svg ');
    for (const word of ['>start<', '>find<', '>retrieval<', '>answer<', '>none<', '>no&#45;answer<']) {
      expect(end.stdout).toContain(word);
    }
  });

  test('portcullis flow graph draws frames around branches and bodies, and writes a file', async () => {
    using folder = folderWithFiles();
    const text = textOf(flow)
      .replace(/- id: answer\n(.|\n)*?(?= {2}- id: reply)/, 'BODY')
      .replace(
        'BODY',
        '- { id: answer, kind: loop, inputs: { items: [a, b] }, config: { body: inner, maxIterations: 2 } }\n  - { id: inner, kind: template, config: { text: "{{item}}" } }\n',
      )
      .replaceAll(/\$\{nodes\.answer\.output\.text\}/g, 'done');
    const out = join(folder.path, 'flow.svg');
    const end = await runInProcess(['flow', 'graph', folder.write('flow.yaml', text), '--out', out]);
    expect(end).toEqual({ code: 0, stderr: '', stdout: `${out} is written.\n` });
    expect(textOf(out)).toContain('>answer: inner<');
  });

  test('portcullis flow graph draws nothing for a flow that is refused', async () => {
    using folder = folderWithFiles();
    const out = join(folder.path, 'flow.svg');
    const end = await runInProcess(['flow', 'graph', folder.write('flow.yaml', 'nodes: []'), '--out', out]);
    expect([end.code, existsSync(out)]).toEqual([2, false]);
  });
});

describe('schemas for editors', () => {
  const schemaOf = (name: string) => JSON.parse(textOf(join(checkout, 'docs/schemas', `${name}.json`)));
  const accepts = (name: string, value: unknown): boolean => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    return ajv.validate(schemaOf(name), value);
  };

  test.each([
    ['flow.v2', 'flow.yaml'],
    ['flow-tests.v1', 'tests.yaml'],
  ])('the schema %s accepts the example %s, and refuses an unknown field in it', (name, file) => {
    const value = parse(textOf(join(example, file)));
    expect(accepts(name, value)).toBe(true);
    expect(accepts(name, { ...value, layout: {} })).toBe(false);
  });

  const schemaNames: Readonly<Record<string, string>> = {
    'flow.yaml': 'flow.v2',
    'tests.yaml': 'flow-tests.v1',
    'manifest.yaml': 'publish-manifest.v2',
    'eval.yaml': 'flow-evaluation.v1',
  };
  const refusedFiles = (folder: string): readonly string[] =>
    readdirSync(folder).filter((file) => {
      const schema = schemaNames[file];
      return schema !== undefined && !accepts(schema, parse(textOf(join(folder, file))));
    });

  test('the schemas for editors accept every file of every example', () => {
    const agents = join(checkout, 'examples/agents');
    const folders = readdirSync(agents);
    expect(folders.length).toBeGreaterThan(4);
    expect(folders.map((name) => refusedFiles(join(agents, name)))).toEqual(folders.map(() => []));
  });

  test('the schemas for editors accept the files that portcullis flow init writes', async () => {
    using folder = folderWithFiles();
    const at = join(folder.path, 'desk');
    await runInProcess(['flow', 'init', at]);
    expect(readdirSync(at).sort()).toEqual(['flow.yaml', 'manifest.yaml', 'tests.yaml']);
    expect(refusedFiles(at)).toEqual([]);
  });

  test('the schema of manifests refuses an unknown field and a manifest without an entry point', () => {
    const value = parse(textOf(join(checkout, 'examples/agents/assistant/manifest.yaml')));
    expect(accepts('publish-manifest.v2', { ...value, address: 'https://agents.example.com' })).toBe(false);
    expect(accepts('publish-manifest.v2', { ...value, flow: {} })).toBe(false);
  });

  test('the schema of flows refuses a node of an unknown kind', () => {
    const value = parse(textOf(flow));
    expect(accepts('flow.v2', { ...value, nodes: [{ id: 'one', kind: 'code' }] })).toBe(false);
  });

  test('the first line of the example flow names an existing schema', () => {
    const path = /\$schema=(\S+)/.exec(textOf(flow))?.[1] ?? '';
    expect(existsSync(join(example, path))).toBe(true);
  });
});

describe('portcullis flow version', () => {
  const assistant = join(checkout, 'examples/agents/assistant');

  test('portcullis flow version prints each example as the AgentVersion in its folder', async () => {
    for (const folder of [assistant, example]) {
      const end = await runInProcess(['flow', 'version', folder]);
      expect(end).toMatchObject({ code: 0, stderr: '' });
      expect(parse(end.stdout)).toEqual(parse(textOf(join(folder, 'agentversion.yaml'))));
    }
  });

  test.each(readdirSync(join(checkout, 'examples/agents')))(
    'the example %s passes its own tests and makes a version',
    async (name) => {
      const folder = join(checkout, 'examples/agents', name);
      const tested = await runInProcess(['flow', 'test', join(folder, 'flow.yaml')]);
      expect([tested.code, tested.stderr]).toEqual([0, '']);
      const end = await runInProcess(['flow', 'version', folder]);
      expect([end.code, end.stderr]).toEqual([0, '']);
      expect(parse(end.stdout).spec.agent).toBe(name);
    },
  );

  test('portcullis flow version adds the digest, the schemas and the requirements of an edited flow to the manifest', async () => {
    using folder = folderWithFiles();
    const at = join(folder.path, 'critic');
    await runInProcess(['flow', 'init', at]);
    const edited = textOf(join(at, 'flow.yaml'))
      .replace('model: guarded-echo', 'model: other')
      .replace('minLength: 1', 'minLength: 2');
    folder.write('critic/flow.yaml', edited);
    const { spec, metadata } = parse((await runInProcess(['flow', 'version', at, '--name', 'critic-next'])).stdout);
    expect(metadata).toEqual({ name: 'critic-next' });
    expect(spec.requires).toEqual([{ kind: 'Model', name: 'other' }]);
    folder.write('critic/published.yaml', spec.lowCode.manifest);
    const check = ['flow', 'check', join(at, 'flow.yaml'), '--manifest', join(at, 'published.yaml')];
    expect(await runInProcess(check)).toMatchObject({ code: 0 });
    expect(spec.lowCode.manifest).toContain('# A revision of a policy');
  });

  test.each([
    ['a manifest that is not a map', 'manifest.yaml', '- a', /manifest\.yaml is refused/],
    [
      'a manifest with an unknown member',
      'manifest.yaml',
      'apiVersion: platform.low-code.publish-manifest/v2\nx: 1',
      /refused/,
    ],
    ['tests of another shape', 'tests.yaml', 'tests: []', /tests\.yaml is refused/],
    ['a flow with a problem', 'flow.yaml', 'nodes: []', /flow\.yaml is refused/],
  ])('portcullis flow version refuses %s', async (_, file, text, message) => {
    using folder = folderWithFiles();
    await runInProcess(['flow', 'init', join(folder.path, 'critic')]);
    folder.write(`critic/${file}`, text);
    const end = await runInProcess(['flow', 'version', join(folder.path, 'critic')]);
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(message);
    expect(end.stdout).not.toContain('AgentVersion');
  });

  test('portcullis flow version adds the subflows that the flow runs, and no other file of the folder', async () => {
    using folder = folderWithFiles();
    const { sha256 } = JSON.parse((await runInProcess(['flow', 'check', flow, '--json'])).stdout);
    const sub = `id: answer\n    kind: subflow\n    inputs: { question: "\${input.question}" }\n    config: { flowId: 01890a5d-ac96-774b-bcce-b302099a8057, sha256: ${sha256}, entrypoint: main }\n`;
    const made = join(folder.path, 'outer');
    await runInProcess(['flow', 'init', made]);
    const file = join(made, 'flow.yaml');
    writeFileSync(file, textOf(file).replace(/id: answer\n(.|\n)*?(?= {2}- id: reply)/, sub));
    writeFileSync(
      join(made, 'tests.yaml'),
      'apiVersion: platform.low-code.flow-tests/v1\ntests: [{name: one, input: {question: x}, expect: {runs: [answer]}}]\n',
    );
    const end = await runInProcess(['flow', 'version', made, '--subflows', example]);
    expect(end).toMatchObject({ stderr: '', code: 0 });
    expect(parse(end.stdout).spec.lowCode.subflows).toEqual([textOf(flow)]);
  });

  test('portcullis flow version refuses a name that no agent may have, and a missing file', async () => {
    using folder = folderWithFiles();
    await runInProcess(['flow', 'init', join(folder.path, 'My.Agent')]);
    const end = await runInProcess(['flow', 'version', join(folder.path, 'My.Agent')]);
    expect([end.code, end.stdout]).toEqual([2, '']);
    expect(end.stderr).toContain('metadata.name must be a DNS name');
    expect(await runInProcess(['flow', 'version', folder.path])).toMatchObject({ code: 3, stdout: '' });
  });
});
