import { expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { problemCodes, problemLine } from '../source/problem.ts';
import { chainText, flowId, flowText, template } from '../testing/flow-text.ts';
import { runText } from '../testing/scripted-ports.ts';
import { loadFlow } from './load-flow.ts';

const ref = (path: string): string => `\${${path}}`;
const problemsOf = (text: string) => {
  const load = loadFlow(text);
  return load.ok ? [] : load.problems;
};
const chain = (node: Record<string, unknown>, parts = {}) => chainText([{ id: 'one', ...node }], parts);
const object = { type: 'object' };

test('a flow with one template is accepted, and its digest is that of its canonical JSON', () => {
  const load = loadFlow(flowText());
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  expect(load.flow.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect([...load.flow.nodes.keys()]).toEqual(['start', 'end', 'greet']);
});

test('the digest of a flow does not depend on its notation, and depends on every value', () => {
  const sha = (text: string) => {
    const load = loadFlow(text);
    return load.ok ? load.flow.sha256 : load.problems;
  };
  const source = {
    apiVersion: 'platform.low-code.flow/v2',
    metadata: { flowId, name: 'greeting', version: 1 },
    input: { schema: object },
    output: { schema: object },
    entrypoints: { main: 'start' },
    nodes: [
      { id: 'start', kind: 'input' },
      { id: 'end', kind: 'output', inputs: { text: 'done' } },
    ],
    edges: [{ from: 'start', to: 'end' }],
  };
  const json = JSON.stringify(source);
  expect(sha(json)).toBe(digestOf(source));
  expect(sha(JSON.stringify(source, null, 2))).toBe(sha(json));
  expect(sha(json.replace('done', 'Done'))).not.toBe(sha(json));
});

const cases: readonly (readonly [title: string, text: string, code: string, place: string, words: string])[] = [
  ['text that is not YAML', 'nodes: [', 'syntax', '1::', 'is not valid YAML'],
  ['a repeated key', `${flowText()}edges: []`, 'syntax', '13::edges', 'an earlier member'],
  ['an anchor', flowText().replace('version: 1', 'version: &one 1'), 'syntax', '2::', 'has an anchor'],
  ['an alias', flowText().replace('name: greeting', 'name: greeting, title: *n'), 'syntax', '2::', 'has an alias'],
  ['a tag', flowText().replace('version: 1', 'version: !int 1'), 'syntax', '2::', 'has a tag'],
  [
    'a number that JSON does not have',
    flowText().replace('version: 1', 'version: .inf'),
    'syntax',
    '2::metadata.version',
    'finite',
  ],
  [
    'a name with half of a surrogate pair',
    chain({ kind: 'transform', inputs: {} }).replace('"inputs":{}', '"inputs":{"\\ud800":1}'),
    'syntax',
    '8:one:nodes[1].inputs',
    'has a name with half of a surrogate pair',
  ],
  [
    'a text with half of a surrogate pair',
    chain({ kind: 'transform', inputs: {} }).replace('"inputs":{}', '"inputs":{"a":"\\ud800"}'),
    'syntax',
    '8:one:nodes[1].inputs.a',
    'has half of a surrogate pair',
  ],
  ['a key that is not a string', flowText().replace('version: 1', '1: 1'), 'syntax', '2::metadata', 'quote it'],
  ['another apiVersion', flowText().replace('flow/v2', 'flow/v1'), 'shape', '1::apiVersion', 'must be'],
  ['an unknown field', flowText({ more: { layout: {} } }), 'shape', '13::layout', 'is an unknown field'],
  [
    'a media type of an output, which follows from its inputs',
    flowText().replace('"inputs":{"text":"done"}', '"inputs":{"text":"done"},"config":{"mediaType":"text/html"}'),
    'shape',
    '8:end:nodes[1].config.mediaType',
    'is an unknown field',
  ],
  ['an unknown kind', chain({ kind: 'code' }), 'shape', '8:one:nodes[1].kind', 'must be'],
  [
    'an unknown field of a node',
    chain({ ...template, id: 'one', color: 1 }),
    'shape',
    '8:one:nodes[1].color',
    'unknown',
  ],
  [
    'an id in another form',
    chain({ id: 'One', kind: 'transform', inputs: {} }),
    'shape',
    '8::nodes[1].id',
    'must match',
  ],
  ['two nodes with one id', flowText({ nodes: [template, template] }), 'duplicate', '10:greet:nodes[3].id', 'earlier'],
  [
    'an edge to no node',
    flowText({
      edges: [
        ['start', 'end'],
        ['greet', 'no'],
      ],
    }),
    'target',
    '12::edges[1].to',
    'names no node',
  ],
  [
    'an entry point that is not an input',
    flowText({ entrypoints: { main: 'greet' } }),
    'target',
    '5::entrypoints.main',
    'kind input',
  ],
  ['a way that ends nowhere', flowText({ edges: [['start', 'greet']] }), 'edge', '9:greet:nodes[2]', 'has no edge'],
  [
    'two edges out of one node',
    flowText({
      edges: [
        ['start', 'greet'],
        ['start', 'end'],
        ['greet', 'end'],
      ],
    }),
    'edge',
    '12::edges[1]',
    'second edge',
  ],
  [
    'an edge out of an output',
    flowText({
      edges: [
        ['start', 'end'],
        ['end', 'greet'],
        ['greet', 'end'],
      ],
    }),
    'edge',
    '12::edges[1].from',
    'where a run ends',
  ],
  [
    'an edge into an input',
    flowText({
      edges: [
        ['start', 'greet'],
        ['greet', 'start'],
      ],
    }),
    'edge',
    '12::edges[1].to',
    'where a run begins',
  ],
  [
    'when on an edge of another node',
    flowText({
      edges: [
        ['start', 'greet', 'yes'],
        ['greet', 'end'],
      ],
    }),
    'edge',
    '11::edges[0].when',
    'condition nodes only',
  ],
  [
    'a cycle',
    flowText({
      nodes: [template, { ...template, id: 'two' }],
      edges: [
        ['start', 'greet'],
        ['greet', 'two'],
        ['two', 'greet'],
      ],
    }),
    'cycle',
    '14::edges[2]',
    'use a loop node',
  ],
  [
    'a node that nothing reaches',
    flowText({
      nodes: [template, { ...template, id: 'two' }],
      edges: [
        ['start', 'greet'],
        ['greet', 'end'],
        ['two', 'end'],
      ],
    }),
    'unreachable',
    '10:two:nodes[3]',
    'no path',
  ],
  [
    'a case without an edge',
    flowText({
      nodes: [
        { id: 'if', kind: 'condition', config: { cases: [{ name: 'yes', when: { eq: [1, 1] } }], default: 'no' } },
      ],
      edges: [
        ['start', 'if'],
        ['if', 'end', 'yes'],
      ],
    }),
    'edge',
    '9:if:nodes[2].config.default',
    'has no edge',
  ],
  [
    'an edge for no case',
    flowText({
      nodes: [
        { id: 'if', kind: 'condition', config: { cases: [{ name: 'yes', when: { eq: [1, 1] } }], default: 'yes' } },
      ],
      edges: [
        ['start', 'if'],
        ['if', 'end', 'maybe'],
        ['if', 'end', 'yes'],
      ],
    }),
    'edge',
    '12::edges[1].when',
    'names no case',
  ],
  [
    'a branch that leads to a node outside',
    chainText([{ id: 'one', kind: 'parallel', config: { branches: ['a', 'b'] } }], {
      nodes: [
        { ...template, id: 'a' },
        { ...template, id: 'b' },
      ],
      edges: [['a', 'result']],
    }),
    'region',
    '15::edges[2]',
    'each node belongs to one',
  ],
  [
    'two branches with one node',
    chainText([{ id: 'one', kind: 'parallel', config: { branches: ['a', 'a'] } }], {
      nodes: [{ ...template, id: 'a' }],
    }),
    'region',
    '8:one:nodes[1].config.branches[1]',
    'each node belongs to one',
  ],
  [
    'an output inside of a body',
    chainText([{ id: 'one', kind: 'loop', inputs: { items: [1] }, config: { body: 'a', maxIterations: 1 } }], {
      nodes: [{ id: 'a', kind: 'output', inputs: { text: '' } }],
    }),
    'region',
    '9:a:nodes[2].kind',
    'must not be output',
  ],
  [
    'an expression in another form',
    chain({ kind: 'transform', inputs: { a: ref('input.question').slice(0, -1) } }),
    'expression',
    '8:one:nodes[1].inputs.a',
    'as a whole',
  ],
  [
    'an expression inside of a text',
    chain({ kind: 'transform', inputs: { a: `x ${ref('input.question')}` } }),
    'expression',
    '8:one:nodes[1].inputs.a',
    'use a template node',
  ],
  [
    'an expression with an unknown root',
    chain({ kind: 'transform', inputs: { a: ref('process.env') } }),
    'expression',
    '8:one:nodes[1].inputs.a',
    'is not an expression',
  ],
  [
    'a template with an open place',
    chain({ kind: 'template', config: { text: '{{input.question' } }),
    'template',
    '8:one:nodes[1].config.text',
    'without }}',
  ],
  [
    'a template with code',
    chain({ kind: 'template', config: { text: '{{1 + 1}}' } }),
    'template',
    '8:one:nodes[1].config.text',
    'is not an expression',
  ],
  [
    'a condition that is nested too deep',
    flowText({
      nodes: [
        {
          id: 'if',
          kind: 'condition',
          config: {
            cases: [
              {
                name: 'yes',
                when: {
                  not: {
                    not: {
                      not: {
                        not: {
                          not: {
                            not: {
                              not: {
                                not: {
                                  not: { not: { not: { not: { not: { not: { not: { not: { eq: [1, 1] } } } } } } } },
                                },
                              },
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
            ],
            default: 'yes',
          },
        },
      ],
      edges: [
        ['start', 'if'],
        ['if', 'end', 'yes'],
      ],
    }),
    'condition',
    '9:if:nodes[2].config.cases[0].when.not.not.not.not.not.not.not.not.not.not.not.not.not.not.not.not.eq',
    'nested deeper',
  ],
  [
    'a pattern that RE2 refuses',
    flowText({
      nodes: [
        {
          id: 'if',
          kind: 'condition',
          config: { cases: [{ name: 'yes', when: { matches: [ref('input.question'), '(?=a)'] } }], default: 'yes' },
        },
      ],
      edges: [
        ['start', 'if'],
        ['if', 'end', 'yes'],
      ],
    }),
    'pattern',
    '9:if:nodes[2].config.cases[0].when.matches[1]',
    'not a pattern of RE2',
  ],
  [
    'a schema that leads out of itself',
    flowText({ input: { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } } }),
    'schema',
    '3::input.schema.properties.a[$ref]',
    'cannot lead out',
  ],
  [
    'a schema that refers to itself',
    flowText({ input: { type: 'object', $defs: { a: { items: { $ref: '#/$defs/a' } } } } }),
    'schema',
    '3::input.schema',
    'refers to itself',
  ],
  [
    'a keyword outside of the vocabulary',
    flowText({ input: { type: 'object', uniqueItems: true } }),
    'schema',
    '3::input.schema.uniqueItems',
    'is not a keyword',
  ],
  [
    'an input that is not an object',
    flowText({ input: { type: 'string' } }),
    'schema',
    '3::input.schema.type',
    'must be object',
  ],
  [
    'a schema that the engine refuses',
    flowText({ input: { type: 'object', properties: { a: { minLength: -1 } } } }),
    'schema',
    '3::input.schema.properties.a.minLength',
    'not a valid JSON Schema of 2020-12: must be >= 0',
  ],
  [
    'a schema of a node that the engine refuses, in a list',
    flowText({ nodes: [{ ...template, outputSchema: { anyOf: [true, { required: ['a', 1] }] } }] }),
    'schema',
    '9:greet:nodes[2].outputSchema.anyOf[1].required[1]',
    'must be string',
  ],
  [
    'an enumeration without values',
    flowText({ nodes: [{ ...template, outputSchema: { properties: { text: { enum: [] } } } }] }),
    'schema',
    '9:greet:nodes[2].outputSchema.properties.text.enum',
    'must be a list of values',
  ],
  [
    'an expression that names a later node',
    flowText({
      nodes: [
        { id: 'greet', kind: 'transform', inputs: { a: ref('nodes.two.output') } },
        { id: 'two', kind: 'transform', inputs: {} },
      ],
      edges: [
        ['start', 'greet'],
        ['greet', 'two'],
        ['two', 'end'],
      ],
    }),
    'reference',
    '9:greet:nodes[2].inputs.a',
    'does not run before',
  ],
  [
    'an expression that names itself',
    chain({ kind: 'transform', inputs: { a: ref('nodes.one.output') } }),
    'reference',
    '8:one:nodes[1].inputs.a',
    'does not run before',
  ],
  [
    'an expression that names no node',
    chain({ kind: 'transform', inputs: { a: ref('nodes.absent.output') } }),
    'reference',
    '8:one:nodes[1].inputs.a',
    'no such node',
  ],
  [
    'item outside of a loop',
    chain({ kind: 'transform', inputs: { a: ref('item') } }),
    'reference',
    '8:one:nodes[1].inputs.a',
    'body of a loop',
  ],
  [
    'state that the flow does not declare',
    chain({ kind: 'transform', inputs: { a: ref('state.a') } }),
    'reference',
    '8:one:nodes[1].inputs.a',
    'no state',
  ],
  [
    'a path that the schema does not allow',
    chain(
      { kind: 'transform', inputs: { a: ref('input.b') } },
      { input: { type: 'object', properties: { a: {} }, additionalProperties: false } },
    ),
    'reference',
    '8:one:nodes[1].inputs.a',
    'allows no b',
  ],
  [
    'a path that the output of a node does not have',
    chainText([
      { ...template, id: 'one' },
      { id: 'two', kind: 'transform', inputs: { a: ref('nodes.one.output.words') } },
    ]),
    'reference',
    '9:two:nodes[2].inputs.a',
    'allows no words',
  ],
  [
    'a number where a text is needed',
    chain({ kind: 'retrieval', inputs: { query: 1 }, config: { collection: 'handbook' } }),
    'types',
    '8:one:nodes[1].inputs.query',
    'gives integer where string',
  ],
  [
    'a result that misses a member of the output schema',
    flowText({ output: { type: 'object', required: ['answer'] } }),
    'types',
    '8:end:nodes[1].inputs',
    'no member answer',
  ],
  [
    'a loop over an object',
    chainText([{ id: 'one', kind: 'loop', inputs: { items: {} }, config: { body: 'a', maxIterations: 1 } }], {
      nodes: [{ ...template, id: 'a' }],
    }),
    'types',
    '8:one:nodes[1].inputs.items',
    'where array',
  ],
  [
    'a loop with neither items nor while',
    chainText([{ id: 'one', kind: 'loop', config: { body: 'a', maxIterations: 1 } }], {
      nodes: [{ ...template, id: 'a' }],
    }),
    'shape',
    '8:one:nodes[1]',
    'either',
  ],
  [
    'state that turns beside each other would overwrite',
    chainText(
      [
        {
          id: 'one',
          kind: 'loop',
          inputs: { items: [1] },
          config: { body: 'a', maxIterations: 1, concurrency: 2, state: { n: 1 } },
        },
      ],
      { state: { schema: object, initial: {} }, nodes: [{ ...template, id: 'a' }] },
    ),
    'state',
    '9:one:nodes[1].config.state',
    'concurrency 1',
  ],
  [
    'an initial state that does not match',
    flowText({ state: { schema: { type: 'object', required: ['n'] }, initial: {} } }),
    'state',
    '5::state.initial',
    'does not match',
  ],
  [
    'two tools with one name',
    chain({
      kind: 'prompt',
      config: {
        model: 'm',
        messages: [{ role: 'user', content: 'a' }],
        tools: [
          { name: 't', description: 'd', agent: { agentId: flowId } },
          { name: 't', description: 'd', retrieval: { collection: 'c' } },
        ],
      },
    }),
    'duplicate',
    '8:one:nodes[1].config.tools[1].name',
    'earlier tool',
  ],
  [
    'turns without tools',
    chain({ kind: 'prompt', config: { model: 'm', messages: [{ role: 'user', content: 'a' }], maxTurns: 2 } }),
    'tools',
    '8:one:nodes[1].config.maxTurns',
    'with tools only',
  ],
  [
    'a path whose value is missing',
    chain({ kind: 'tool_http', config: { connection: 'c', method: 'GET', path: '/a/{id}' } }),
    'types',
    '8:one:nodes[1].config.path',
    'inputs.path',
  ],
  ...['GET', 'DELETE'].map((method): (typeof cases)[number] => [
    `a ${method} with a body`,
    chain({ kind: 'tool_http', config: { connection: 'c', method, path: '/a' }, inputs: { body: { a: 1 } } }),
    'types',
    '8:one:nodes[1].config.method',
    'has a body',
  ]),
  [
    'a path that leads up',
    chain({ kind: 'tool_http', config: { connection: 'c', method: 'GET', path: '/a/../b' } }),
    'shape',
    '8:one:nodes[1].config.path',
    'segment',
  ],
  [
    'a subflow that was not given',
    chain({ kind: 'subflow', config: { flowId, sha256: 'a'.repeat(64), entrypoint: 'main' } }),
    'subflow',
    '8:one:nodes[1].config.sha256',
    'given with this one',
  ],
];

test.each(cases)('a flow with %s is refused with its place', (_, text, code, place, words) => {
  const problems = problemsOf(text);
  const found = problems.find((problem) => problem.code === code && problem.message.includes(words));
  expect(problems).toContainEqual(found);
  expect(`${found?.line}:${found?.node ?? ''}:${found?.path}`).toBe(place);
});

test('a problem of a flow has the column of its key, and is printed as FILE:LINE:COLUMN, which editors open', () => {
  const [problem] = problemsOf(flowText({ edges: [['start', 'end', 'yes']] }));
  expect(problem === undefined ? undefined : problemLine('flow.yaml', problem)).toBe(
    'flow.yaml:11:32: edges[0].when is for edges out of condition nodes only',
  );
});

test('every problem code of a flow has a test case', () => {
  const tested = new Set(cases.map(([, , code]) => code));
  expect([...tested].sort()).toEqual(
    problemCodes.filter((code) => !['too_large', 'nesting', 'digest', 'capability'].includes(code)).toSorted(),
  );
});

test('the source of a flow has at most 262144 bytes', () => {
  const text = flowText();
  const filled = (bytes: number) => `${text}#${'x'.repeat(bytes - text.length - 1)}`;
  expect(problemsOf(filled(262_144))).toEqual([]);
  expect(problemsOf(filled(262_145))).toMatchObject([{ code: 'too_large', line: 1 }]);
});

test('the source of a flow is nested at most 48 levels, by brackets, on one line, or by indentation', () => {
  const filled = (value: string) =>
    flowText({ nodes: [{ id: 'greet', kind: 'transform', inputs: { a: 0 } }] }).replace('"a":0', `"a":${value}`);
  const lists = (depth: number) => filled(`${'['.repeat(depth)}0${']'.repeat(depth)}`);
  expect(problemsOf(lists(44))).toEqual([]);
  expect(problemsOf(lists(45))).toMatchObject([{ code: 'syntax', message: 'is nested deeper than 48 levels' }]);
  const maps = (depth: number) => Array.from({ length: depth }, (_, at) => `${' '.repeat(at)}a:`).join('\n');
  const message = 'is nested deeper than 48 levels';
  expect(problemsOf(maps(48)).some((problem) => problem.message === message)).toBe(false);
  expect(problemsOf(maps(49)).some((problem) => problem.message === message)).toBe(true);
  expect(problemsOf('- '.repeat(49))).toMatchObject([{ line: 1, column: 97, message }]);
});

test.each([
  ['brackets', '['.repeat(262_000)],
  ['dashes', '- '.repeat(131_000)],
  ['colons', 'a: '.repeat(87_000)],
  ['anchors', '&a '.repeat(87_000)],
  ['tags', '!!a '.repeat(65_000)],
  ['members', Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n')],
])('a flow source with as many %s as its size allows is refused quickly', (_, text) => {
  expect(problemsOf(text)).not.toEqual([]);
});

test('a YAML indicator inside a text is not parsed as an anchor, alias, tag or bracket', () => {
  const greet = { id: 'greet', kind: 'template', config: { text: 'x' } };
  const signs = '&a *b !c [ { - ? :';
  for (const text of [`"${signs}"`, `'${signs}'`]) {
    expect(problemsOf(flowText({ nodes: [greet] }).replace('"x"', text))).toEqual([]);
  }
  expect(problemsOf(`${flowText()}# ${'['.repeat(100)} &a\n`)).toEqual([]);
});

test('a flow has at most 200 nodes', () => {
  const filled = (count: number) =>
    chainText(Array.from({ length: count - 2 }, (_, at) => ({ id: `t${at}`, kind: 'transform', inputs: { at } })));
  expect(problemsOf(filled(200))).toEqual([]);
  expect(problemsOf(filled(201))).toMatchObject([{ code: 'shape', path: 'nodes' }]);
});

test('loops are nested at most 8 levels, the flow itself included', () => {
  const filled = (levels: number) => {
    const loops = Array.from({ length: levels - 1 }, (_, at) => ({
      id: `l${at}`,
      kind: 'loop',
      inputs: { items: [1] },
      config: { body: at === levels - 2 ? 'leaf' : `l${at + 1}`, maxIterations: 1 },
    }));
    return chainText(loops.slice(0, 1), { nodes: [...loops.slice(1), { ...template, id: 'leaf' }] });
  };
  expect(problemsOf(filled(8))).toEqual([]);
  expect(problemsOf(filled(9))).toMatchObject([{ code: 'nesting', node: 'l7' }]);
});

test('a flow expression with a default may read a node that does not run on every path', () => {
  const branching = (value: unknown) =>
    flowText({
      nodes: [
        { id: 'if', kind: 'condition', config: { cases: [{ name: 'yes', when: { eq: [1, 1] } }], default: 'no' } },
        template,
        { id: 'both', kind: 'transform', inputs: { value } },
      ],
      edges: [
        ['start', 'if'],
        ['if', 'greet', 'yes'],
        ['if', 'both', 'no'],
        ['greet', 'both'],
        ['both', 'end'],
      ],
    });
  expect(problemsOf(branching({ from: ref('nodes.greet.output.text'), default: '' }))).toEqual([]);
  expect(problemsOf(branching(ref('nodes.greet.output.text')))).toMatchObject([{ code: 'reference', node: 'both' }]);
});

test('an input node with a list of fields outputs only those fields', async () => {
  const source = (name: string) =>
    chain(
      { kind: 'transform', inputs: { a: ref(`nodes.start.output.${name}`) } },
      { input: { type: 'object' } },
    ).replace('kind: input}', 'kind: input, config: {fields: [question]}}');
  expect(problemsOf(source('question'))).toEqual([]);
  expect(problemsOf(source('other'))).toMatchObject([{ code: 'reference', node: 'one' }]);
  const { last } = await runText(source('question'), {}, { input: { question: 'why?', other: 1 } });
  expect(last).toMatchObject({ result: { data: { value: { a: 'why?' } } } });
});

test('on the path after its error, a flow node has no output', () => {
  const failing = (value: unknown) =>
    flowText({
      nodes: [
        { ...template, onError: { goto: 'instead' } },
        { id: 'instead', kind: 'transform', inputs: { value } },
      ],
      edges: [
        ['start', 'greet'],
        ['greet', 'end'],
        ['instead', 'end'],
      ],
    });
  expect(problemsOf(failing(ref('input.question')))).toEqual([]);
  expect(problemsOf(failing(ref('nodes.greet.output')))).toMatchObject([{ code: 'reference', node: 'instead' }]);
});

test('a subflow is pinned by its digest, its id and its entry point', () => {
  const inner = flowText();
  const load = loadFlow(inner);
  const sha256 = load.ok ? load.flow.sha256 : '';
  const outer = (config: object) =>
    loadFlow(
      chain({ kind: 'subflow', inputs: { question: 'x' }, config: { flowId, sha256, entrypoint: 'main', ...config } }),
      {
        subflows: (digest) => (digest === sha256 || digest === 'b'.repeat(64) ? inner : undefined),
      },
    );
  expect(outer({})).toMatchObject({ ok: true });
  expect(outer({ sha256: 'b'.repeat(64) })).toMatchObject({
    problems: [{ code: 'subflow', path: 'nodes[1].config.sha256' }],
  });
  expect(outer({ entrypoint: 'other' })).toMatchObject({
    problems: [{ code: 'subflow', message: 'is not an entry point of the subflow' }],
  });
  expect(outer({ flowId: flowId.replace('0', '1') })).toMatchObject({
    problems: [{ code: 'subflow', path: 'nodes[1].config.flowId' }],
  });
});

test('a short JSON schema whose references expand beyond the limit is refused', () => {
  const twice = (levels: number) => ({
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, at) => [
        `d${at}`,
        at === levels - 1 ? {} : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    ),
  });
  expect(problemsOf(flowText({ input: twice(9) }))).toEqual([]);
  expect(problemsOf(flowText({ input: twice(40) }))).toMatchObject([{ code: 'schema', path: 'input.schema' }]);
});
