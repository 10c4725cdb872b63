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
  expect(problems).toContainEqual({ document: 2, line: 8, field: 'spec.extra', message: 'is an unknown field' });
  expect(problems).toContainEqual({ document: 2, line: 4, field: 'apiVersion', message: 'is required' });
  expect(problems).toContainEqual({ document: 2, line: 8, field: 'spec.gateway', message: 'is required' });
  expect(problems.find(({ field }) => field === 'metadata.name')).toMatchObject({ line: 6, message: /lower case/ });
  expect(problems.find(({ field }) => field === 'spec.replicas')).toMatchObject({ line: 9 });
});

test.each([
  ['invalid YAML', 'a: [1', /./],
  ['a key twice', 'kind: a\nkind: b', /unique/],
  ['an unknown tag', 'a: !secret x', /tag/],
  ['another version of YAML', '%YAML 1.1\n---\nkind: x', /1\.2/],
  ['exponential aliases', bomb(), /aliases/],
  ['too deep a nesting', '- '.repeat(20_000), /nested/],
  ['a list', '- 1', /must be one of GuardrailPolicy, ModelBinding/],
  ['a scalar', 'text', /must be one of/],
  ['invalid UTF-8', Buffer.from([0x61, 0xff]), /UTF-8/],
  ['an internal kind', JSON.stringify(sampleRevision('r')), /written by Portcullis only/],
  ['a resource twice', `${binding}\n---\n${binding}`, /name of document 1/],
  ['a bad label', JSON.stringify(sampleBinding('x', { labels: { a: '-' } })), /63 letters/],
])('a manifest is refused: %s', (_name, text, wanted) => {
  expect(messages(text).join('\n')).toMatch(wanted);
});

test('a manifest file of four mebibytes is read and a longer one is refused', () => {
  const padded = (length: number) => binding + ' '.repeat(length - binding.length);
  expect(readManifests(padded(maxManifestBytes)).problems).toEqual([]);
  expect(messages(padded(maxManifestBytes + 1))).toEqual([`|the text exceeds ${maxManifestBytes} bytes`]);
});

test('a caller of the manifest reader can fill in omitted members and accept internal kinds', () => {
  const complete = (value: unknown) => ({ ...(value as object), kind: 'ModelBinding' });
  expect(readManifests(binding.replace('ModelBinding', ''), { complete }).problems).toEqual([]);
  expect(readManifests(JSON.stringify(sampleRevision('r')), { internal: 'allow' }).problems).toEqual([]);
});

test('a manifest member named __proto__ becomes an ordinary member', () => {
  const text = JSON.stringify(sampleBinding('x')).replace('"spec":{', '"spec":{"__proto__":{"a":1},');
  expect(messages(text)).toEqual(['spec.__proto__|is an unknown field']);
});

function bomb(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let level = 1; level < 9; level += 1) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')}]`);
  }
  return lines.join('\n');
}
