import { expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import { namesOfKind } from '../resources/resource-kind.ts';
import { readSelection } from './select.ts';

const { guardrailPolicy: policy, modelBinding: binding } = kinds;

test.each([
  [['gp'], { by: 'kind', kinds: [policy] }],
  [['policies,bindings'], { by: 'kind', kinds: [policy, binding] }],
  [['all'], { by: 'kind', kinds: Object.values(kinds) }],
  [
    ['policy', 'a', 'b'],
    {
      by: 'name',
      targets: [
        { kind: policy, name: 'a' },
        { kind: policy, name: 'b' },
      ],
    },
  ],
  [
    ['mb/a', 'ModelBindings.portcullis.dev/b'],
    {
      by: 'name',
      targets: [
        { kind: binding, name: 'a' },
        { kind: binding, name: 'b' },
      ],
    },
  ],
])('the selection %j is read as by kubectl', (words, selection) => {
  expect(readSelection(words)).toEqual(selection);
});

test.each([
  [['pods'], 'There is no kind "pods". The kinds are'],
  [['gp', 'mb/a'], '"mb/a" names a kind again'],
  [['gp/a', 'b'], '"b" is not KIND/NAME'],
  [['gp/'], '"gp/" is not KIND/NAME'],
  [['all', 'a'], '"all" means every kind'],
])('the selection %j is refused with the correct form', (words, sentence) => {
  expect(() => readSelection(words)).toThrow(sentence);
});

test('no name, plural or short name is shared by two kinds', () => {
  const words = Object.values(kinds).flatMap((kind) => [...new Set(namesOfKind(kind))]);
  expect(words).toHaveLength(new Set(words).size);
  expect(namesOfKind(policy)).toEqual(['guardrailpolicy', 'guardrailpolicies', 'gp', 'policy', 'policies']);
  expect(namesOfKind(kinds.gatewayRoute)).toEqual(['gatewayroute', 'gatewayroutes', 'gwr']);
});
