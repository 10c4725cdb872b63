import { expect, test } from 'vitest';
import type { ModelBinding } from '#resources/model-binding';
import { judgedScopeOf, judgedScopeText, judgesText } from './judged-scope.ts';

const binding = (rest: object, mode = 'Policy') =>
  ({ spec: { guardrail: { mode }, ...rest } }) as unknown as Pick<ModelBinding, 'spec'>;
const text = (rest: object, refusedBy?: string) =>
  judgedScopeText(judgedScopeOf(binding(rest)), refusedBy)
    .split('\n')
    .map((line) => line.replace(/ {2,}/g, '  '));

test('a binding without further members judges the texts of the contract, forwards others and serves strict streams', () => {
  expect(text({})).toEqual([
    'always  content and refusals of messages and answers, results of tools',
    'also  nothing',
    'not judged  toolCalls, toolDefinitions, reasoning, names, parameters, files: forwarded',
    'streams  served, if every rule can judge them',
    'long conversations  refused',
  ]);
  expect(text({}, 'long-key')).toContain('streams  refused because of long-key');
});

test('the command line describes which texts a binding has judged', () => {
  const rest = {
    judge: ['reasoning', 'toolCalls'],
    unjudged: 'Refuse',
    streaming: 'Allowed',
    longConversations: 'Split',
  };
  expect(text(rest, 'long-key')).toEqual([
    'always  content and refusals of messages and answers, results of tools',
    'also  toolCalls, reasoning',
    'not judged  toolDefinitions, names, parameters, files: refused',
    'streams  served, although a longer match of some rules may pass',
    'long conversations  judged in groups',
  ]);
  expect(text({ judge: ['all'], streaming: 'Refused' })).toEqual(
    expect.arrayContaining(['not judged  nothing', 'streams  refused']),
  );
});

test('of an unguarded model nothing is judged', () => {
  expect(judgedScopeOf(binding({ judge: ['all'] }, 'None'))).toBeUndefined();
  expect(judgedScopeText(undefined, undefined)).toContain('UNGUARDED');
});

test('a table has one word for the kinds', () => {
  const word = (rest: object): string => {
    const scope = judgedScopeOf(binding(rest));
    return scope === undefined ? '-' : judgesText(scope);
  };
  expect([{}, { judge: ['all'] }, { judge: ['names', 'files'] }].map(word)).toEqual(['contract', 'all', 'names,files']);
});
