import { expect, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { sampleBinding, samplePolicy, sampleRevision } from '../testing/sample-resources.ts';
import { maxManifestBytes, readManifests } from './read-manifests.ts';

const binding = JSON.stringify(sampleBinding('one'));
const messages = (text: string | Uint8Array) =>
  readManifests(text).problems.map(({ field, message }) => `${field}|${message}`);

test('every document of a manifest file is read with its own hash, including JSON with tabs', () => {
  const second = JSON.stringify(samplePolicy('two'));
  const { resources, problems } = readManifests(`# comment\n---\n${binding}\n---\n---\n${second}\n`);
  expect(problems).toEqual([]);
  expect(resources.map(({ document, kind, resource }) => [document, kind.kind, resource])).toEqual([
    [1, 'ModelBinding', sampleBinding('one')],
    [3, 'GuardrailPolicy', samplePolicy('two')],
  ]);
  expect(resources[1]?.sha256).toBe(sha256Hex(second));
  expect(readManifests(JSON.stringify(sampleBinding('one'), null, '\t')).resources).toHaveLength(1);
  expect(readManifests('')).toEqual({ resources: [], problems: [] });
});

test('every problem of a manifest has its document, line and field', () => {
  const text = `---\n${binding}\n---\nkind: ModelBinding\nmetadata:\n  name: Capital\nspec:\n  extra: 1\n  replicas: 0\n`;
  const { problems, resources } = readManifests(text);
  expect(resources).toHaveLength(1);
  const placed = (field: string) => problems.find((problem) => problem.field === field);
  expect(placed('spec.extra')).toMatchObject({
    document: 2,
    line: 8,
    column: 3,
    message: /^is an unknown field: spec has /,
  });
  expect(placed('apiVersion')).toMatchObject({
    document: 2,
    line: 4,
    column: 1,
    field: 'apiVersion',
    message: /^is required: add it/,
  });
  expect(placed('spec.gateway')).toMatchObject({
    document: 2,
    line: 7,
    column: 1,
    message: 'is required: add it (gateway names the gateway that serves the alias)',
  });
  expect(placed('metadata.name')).toMatchObject({ line: 6, column: 3, message: /lower case/ });
  expect(placed('spec.replicas')).toMatchObject({ line: 9, column: 3 });
});

test.each([
  ['invalid YAML', 'a: [1', /./],
  ['a key twice', 'a: 1\nkind: a\nkind: b', /key already, on line 2: remove one/],
  ['a key twice within brackets', 'a: {\n  x: 1,\n  "x": 2 }', /key already, on line 2: remove one/],
  ['a key three times', 'a: 1\na: 2\na: 3', /on line 1: remove one of the two\n.*on line 1: remove/],
  ['an unknown tag', 'a: !secret x', /tag/],
  ['another version of YAML', '%YAML 1.1\n---\nkind: x', /1\.2/],
  ['exponential aliases', bomb(), /aliases/],
  ['too deep a nesting', '- '.repeat(20_000), /nested/],
  ['a list', '- 1', /must be one of GuardrailPolicy, ModelBinding/],
  ['a scalar', 'text', /must be one of/],
  ['invalid UTF-8', Buffer.from([0x61, 0xff]), /UTF-8/],
  ['an internal kind', JSON.stringify(sampleRevision('r')), /written by Portcullis only/],
  [
    'a resource twice',
    `${binding}\n---\n${binding}`,
    /name of document 1 \(line 1\): give one of the two another name, or remove one$/,
  ],
  ['a bad label', JSON.stringify(sampleBinding('x', { labels: { a: '-' } })), /63 letters/],
])('a manifest is refused: %s', (_name, text, wanted) => {
  expect(messages(text).join('\n')).toMatch(wanted);
});

test('a manifest file of four mebibytes is read, and a longer file is refused', () => {
  const padded = (length: number) => binding + ' '.repeat(length - binding.length);
  expect(readManifests(padded(maxManifestBytes)).problems).toEqual([]);
  expect(messages(padded(maxManifestBytes + 1))).toEqual([
    `|the text exceeds ${maxManifestBytes} bytes: divide it into several files`,
  ]);
});

test('a caller of the manifest reader can fill in omitted members and accept internal kinds', () => {
  const complete = (value: unknown) => ({ ...(value as object), kind: 'ModelBinding' });
  expect(readManifests(binding.replace('ModelBinding', ''), { complete }).problems).toEqual([]);
  expect(readManifests(JSON.stringify(sampleRevision('r')), { internal: 'allow' }).problems).toEqual([]);
});

test('a manifest member named __proto__ becomes an ordinary member', () => {
  const text = JSON.stringify(sampleBinding('x')).replace('"spec":{', '"spec":{"__proto__":{"a":1},');
  expect(messages(text)).toEqual([expect.stringMatching(/^spec\.__proto__\|is an unknown field/)]);
});

/** A binding in the block style, with one field on each line. */
const lines =
  'apiVersion: portcullis.dev/v1alpha1\nkind: ModelBinding\nmetadata:\n  name: one\nspec:\n  gateway: default\n';

test.each([
  ['a tab', lines.replace('  name', '\tname'), 4, /the indentation has a tab/],
  ['a deeper line', lines.replace('  gateway', '  replicas: 1\n    gateway'), 6, /check the indentation/],
  ['a bracket that stays open', lines.replace('kind: M', 'kind: [M'), 2, /a bracket is opened and not closed/],
  ['a quote that stays open', lines.replace('name: one', 'name: "one'), 4, /a quote is opened and not closed/],
  ['a missing blank after a colon', lines.replace('kind: ', 'kind:'), 2, /write a colon and a blank/],
  ['an escape that does not exist', lines.replace(': default', ': "\\d"'), 6, /use single quotes/],
  ['braces of a template', lines.replace(': one', ': {{ .Name }}'), 4, /quote/],
  ['an alias without an anchor', lines.replace(': one', ': *one'), 4, /anchor|alias/],
  ['a reserved character', lines.replace(': one', ': @one'), 4, /cannot begin with @/],
  ['a comma too many', lines.replace(': one', ': [a,,b]'), 4, /a comma has no entry before it/],
])('the problem of a manifest with %s is reported once, with its line and the remedy', (_, text, line, wanted) => {
  const { problems } = readManifests(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ document: 1, line, message: wanted });
});

test('a misspelt field and a misspelt kind are reported with the name that was probably meant', () => {
  const text = binding.replace('"upstreamModel"', '"upstreamModle"');
  expect(messages(text)).toEqual(['spec.model.upstreamModle|is an unknown field: did you mean upstreamModel?']);
  expect(messages(lines.replace('ModelBinding', 'Modelbinding')).join()).toMatch(/: did you mean ModelBinding\?$/);
});

test('a field in the wrong place is moved to the correct place, or removed if that place has a value', () => {
  const inSpec = (spec: string) => messages(`${lines}${spec}`).find((one) => one.startsWith('spec.alias|'));
  expect(inSpec('  alias: one\n')).toBe('spec.alias|is an unknown field: move it to spec.model.alias');
  expect(inSpec('  alias: one\n  model: { provider: echo }\n')).toContain('move it to spec.model.alias');
  expect(inSpec('  alias: one\n  model:\n    alias: two\n')).toBe(
    'spec.alias|is an unknown field: remove it, because spec.model.alias is there already (line 9)',
  );
});

test('a problem of a JSON text has its line and column', () => {
  const text = JSON.stringify({ ...sampleBinding('one'), extra: 1 }, null, 2);
  const { problems } = readManifests(text);
  const line = text.split('\n').findIndex((one) => one.includes('"extra"')) + 1;
  expect(problems).toMatchObject([{ document: 1, line, column: 3, field: 'extra' }]);
});

function bomb(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let level = 1; level < 9; level += 1) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')}]`);
  }
  return lines.join('\n');
}
