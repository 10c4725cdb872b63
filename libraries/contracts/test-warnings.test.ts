import { expect, test } from 'vitest';
import { regexEngine } from './local-rules.ts';
import type { BaselineRule, Definition } from './policy.ts';
import { testWarnings } from './test-warnings.ts';

function rule(id: string): BaselineRule {
  const regex = { engine: regexEngine, pattern: id, caseSensitive: true } as const;
  return { id, kind: 'regex', timeoutMs: 20, action: { type: 'deny' }, regex };
}

function definitionOf(request: readonly string[], response: readonly string[]): Definition {
  const section = (ids: readonly string[]) => ({ deadlineMs: 250, baseline: ids.map(rule), additional: [] });
  return { request: section(request), response: section(response), providers: [] };
}

test('a policy without tests causes one warning', () => {
  expect(testWarnings(definitionOf(['a'], ['b']), [])).toEqual(['it has no tests: nothing shows that its rules fire']);
});

test('rules that no test fires are listed by section, at most five of each', () => {
  const definition = definitionOf(['a', 'b', 'c', 'd', 'e', 'f', 'g'], ['x', 'y']);
  expect(
    testWarnings(definition, [
      { stage: 'request', rules: ['a'] },
      { stage: 'response', rules: ['x'] },
    ]),
  ).toEqual([
    'request section, rules b, c, d, e, f and 1 more: no test fires them',
    'response section, rule y: no test fires it',
  ]);
});

test('a test of one section also covers a rule of the other section with the same content', () => {
  const { request, response, ...rest } = definitionOf(['a'], ['a']);
  const masking = response.baseline.map((one) => ({ ...one, action: { type: 'mask', replacement: '#' } as const }));
  const definition = { ...rest, request, response: { ...response, baseline: masking } as Definition['response'] };
  expect(testWarnings(definition, [{ stage: 'response', rules: ['a'] }])).toEqual([]);
});

test('observe rules cause no warning, because they decide nothing', () => {
  const { request, ...rest } = definitionOf(['a'], ['a']);
  const definition = { ...rest, request: { ...request, additional: [{ ...rule('b'), mode: 'observe' as const }] } };
  expect(testWarnings(definition, [{ stage: 'request', rules: ['a'] }])).toEqual([]);
});
