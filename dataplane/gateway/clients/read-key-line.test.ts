import { expect, test } from 'vitest';
import { readKeyLine } from './read-key-line.ts';

test('a client key line is a key, and a name and rules in any order', () => {
  expect(readKeyLine('k1')).toEqual({ kind: 'key', key: 'k1', rules: {} });
  expect(readKeyLine('  \t')).toEqual({ kind: 'empty' });
  const rules = {
    name: 'Anna Second',
    aliases: new Set(['a', 'b/c']),
    rate: { requests: 60, ms: 60_000 },
    dailyTokens: 5,
  };
  expect(readKeyLine(' k2 Anna aliases=a,b/c rate=60/minute\tSecond daily-tokens=5 ')).toEqual({
    kind: 'key',
    key: 'k2',
    rules,
  });
  expect(readKeyLine(`k ${'n'.repeat(70)}`)).toMatchObject({ rules: { name: 'n'.repeat(64) } });
});

test.each(['rate=1/second', 'rate=1000000/hour', 'daily-tokens=1', 'daily-tokens=1000000000000', 'aliases=a'])(
  '%s is a valid rule of a client key',
  (rule) => {
    expect(readKeyLine(`k ${rule}`).kind).toBe('key');
  },
);

test.each([
  'rate=0/second',
  'rate=1000001/hour',
  'rate=1/day',
  'rate=1',
  'rate=',
  'rate=1/constructor',
  'daily-tokens=0',
  'daily-tokens=1000000000001',
  'daily-tokens=1k',
  'aliases=',
  'aliases=,',
  'alias=a',
  '=',
  'a=b=c',
  'rate=1/second rate=2/second',
])('%s is a problem, so that its key is not accepted without the rule', (rule) => {
  const read = readKeyLine(`secret ${rule}`);
  expect(read.kind).toBe('problem');
  expect(JSON.stringify(read)).not.toContain('secret');
});
