import { expect, test } from 'vitest';
import type { ModelBinding } from '#resources/model-binding';
import { judgedScopeOf, judgedScopeText, judgesText } from './judged-scope.ts';

const binding = (rest: object, mode = 'Policy') =>
  ({ spec: { guardrail: { mode }, ...rest } }) as unknown as Pick<ModelBinding, 'spec'>;
const text = (rest: object, checks?: Parameters<typeof judgedScopeText>[1]) =>
  judgedScopeText(judgedScopeOf(binding(rest)), checks)
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
  expect(text({}, { streamingRefusedBy: 'long-key' })).toContain('streams  refused because of long-key');
});

test('the command line describes which texts a binding has judged', () => {
  const rest = {
    judge: ['reasoning', 'toolCalls'],
    unjudged: 'Refuse',
    streaming: 'Allowed',
    longConversations: 'Split',
  };
  expect(text(rest, { streamingRefusedBy: 'long-key', division: { allowed: true } })).toEqual([
    'always  content and refusals of messages and answers, results of tools',
    'also  toolCalls, reasoning',
    'not judged  toolDefinitions, names, parameters, files: refused',
    'streams  served, although a longer match of some rules may pass',
    'long conversations  judged in groups',
    'long texts in requests  of the kinds in "also": judged in pieces',
    'long texts in answers  of the kinds in "also": judged in windows',
  ]);
  expect(text({ judge: ['all'], streaming: 'Refused' })).toEqual(
    expect.arrayContaining(['not judged  nothing', 'streams  refused']),
  );
});

test('the command line explains why a text of a further kind that is larger than one check is refused', () => {
  const long = (checks: Parameters<typeof judgedScopeText>[1]) =>
    text({ judge: ['toolCalls'] }, checks).filter((line) => line.startsWith('long texts'));
  expect(long({ streamingRefusedBy: 'long-key', division: { allowed: false, rule: 'anchored' } })).toEqual([
    'long texts in requests  of the kinds in "also": refused because of anchored',
    'long texts in answers  of the kinds in "also": refused because of long-key',
  ]);
  expect(long({})).toEqual([
    'long texts in requests  of the kinds in "also": refused until the policy is applied again',
    'long texts in answers  of the kinds in "also": judged in windows',
  ]);
  expect(long(undefined)).toEqual([]);
});

test('no text of an unguarded model is judged', () => {
  expect(judgedScopeOf(binding({ judge: ['all'] }, 'None'))).toBeUndefined();
  expect(judgedScopeText(undefined, undefined)).toContain('UNGUARDED');
});

test('a table shows the kinds of judged text as one word', () => {
  const word = (rest: object): string => {
    const scope = judgedScopeOf(binding(rest));
    return scope === undefined ? '-' : judgesText(scope);
  };
  expect([{}, { judge: ['all'] }, { judge: ['names', 'files'] }].map(word)).toEqual(['contract', 'all', 'names,files']);
});
