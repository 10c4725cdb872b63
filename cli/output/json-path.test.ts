import { describe, expect, test } from 'vitest';
import { CliError } from '../errors/cli-error.ts';
import { createPathReader, formatJsonPath, parseJsonPath } from './json-path.ts';

/** The examples of the kubectl page "JSONPath Support", for an object like the one on that page. */
const list = {
  kind: 'List',
  items: [
    { kind: 'None', metadata: { name: '127.0.0.1', labels: { 'kubernetes.io/hostname': '127.0.0.1' } }, age: 3 },
    { kind: 'None', metadata: { name: '127.0.0.2' }, status: { capacity: { cpu: '8' } }, age: 9 },
  ],
  users: [
    { name: 'myself', user: {} },
    { name: 'e2e', user: { username: 'admin', isReady: true } },
  ],
};
const format = (template: string): string => formatJsonPath(parseJsonPath(template), list);

test.each([
  ['kind is {.kind}', 'kind is List'],
  ['{.kind}', 'List'],
  ["{['kind']}", 'List'],
  ['.kind', 'List'],
  ['{$.kind}{@.kind}', 'ListList'],
  ['{..name}', '127.0.0.1 127.0.0.2 myself e2e'],
  ['{.items[*].metadata.name}', '127.0.0.1 127.0.0.2'],
  ['{.users[0].name}', 'myself'],
  ['{.users[-1].name}', 'e2e'],
  ['{.users[-1:].name}', 'e2e'],
  ['{.users[0:1].name}', 'myself'],
  ['{.users[::2].name}', 'myself'],
  ["{.items[*]['metadata.name', 'kind']}", 'None None'],
  ['{.users[?(@.name=="e2e")].user.username}', 'admin'],
  ['{.users[?(@.user.username)].name}', 'e2e'],
  ['{.users[?(@.user.isReady==true)].name}', 'e2e'],
  ['{.items[?(@.age>3)].metadata.name}', '127.0.0.2'],
  ['{.items[?(@.age>=3)].metadata.name}', '127.0.0.1 127.0.0.2'],
  ['{.items[?(@.age!=3)].metadata.name}', '127.0.0.2'],
  ['{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}', '[127.0.0.1, ] [127.0.0.2, {"cpu":"8"}] '],
  ['{range .items[*]}{.metadata.name}{"\\t"}{.kind}{"\\n"}{end}', '127.0.0.1\tNone\n127.0.0.2\tNone\n'],
  ['{.items[0].metadata.labels.kubernetes\\.io/hostname}', '127.0.0.1'],
  ['{.items[*].absent}', ''],
  ['{"a } b"}', 'a } b'],
])('the template %s writes %j', (template, text) => {
  expect(format(template)).toBe(text);
});

test.each([
  ['{.items[?(@.name=~/x/)]}', 'character 1', 'is not understood'],
  ['{.items[(@.length-1)]}', 'character 1', '"[(@.length-1)]" is not understood'],
  ['{.items', 'character 1', 'is not closed'],
  ['{range .items[*]}{.x}', 'character 22', '{range} has no {end}'],
  ['x{end}', 'character 2', '{end} has no {range}'],
  ['{.a[0:2:0]}', 'character 1', 'is not understood'],
])('the template %s is refused with the place of the problem and the supported syntax', (template, place, problem) => {
  const parse = () => parseJsonPath(template);
  expect(parse).toThrow(CliError);
  expect(parse).toThrow(place);
  expect(parse).toThrow(problem);
  expect(parse).toThrow('Supported are');
});

describe('a path to sort by', () => {
  test('a JSONPath is accepted with and without braces', () => {
    for (const path of ['.kind', '{.kind}']) expect(createPathReader(path)(list)).toEqual(['List']);
  });

  test('a JSONPath template with text around its braces is not a single path', () => {
    expect(() => createPathReader('{.kind} x')).toThrow('one path is needed');
  });
});
