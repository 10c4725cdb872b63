import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { ConfigError, describeSettings, readEnvironment, type Setting, setting } from './read-environment.ts';

const help = 'what it is for';
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'read-environment-'));
  writeFileSync(join(folder, 'there'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

function readOne<T>(one: Setting<T>, text: string | undefined): T {
  const env = text === undefined ? {} : { X: text };
  return readEnvironment({ X: one as Setting<unknown> }, env, { folder }).X as T;
}
function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const integer = setting.integer({ help, min: -2, max: 65_535 });
const choice = setting.choice({ help, choices: ['Policy', 'None'] });

describe('valid settings', () => {
  test.each<[string, Setting<unknown>, string, unknown]>([
    ['string', setting.string({ help }), ' a b ', ' a b '],
    ['integer', integer, '0', 0],
    ['smallest integer', integer, '-2', -2],
    ['largest integer', integer, '65535', 65_535],
    ['choice', choice, 'None', 'None'],
    ['list', setting.list({ help }), 'a, b ,c', ['a', 'b', 'c']],
    ['hostPort', setting.hostPort({ help }), '127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    [
      'name and largest port',
      setting.hostPort({ help }),
      'my-host.local:65535',
      { host: 'my-host.local', port: 65_535 },
    ],
    ['IPv6', setting.hostPort({ help }), '[::1]:80', { host: '::1', port: 80 }],
    ['url', setting.url({ help }), 'https://a.example:8443/v1?x=1', new URL('https://a.example:8443/v1?x=1')],
    ['absolute path', setting.path({ help }), '/a/../b', '/b'],
  ])('a valid setting is read: %s', (_what, one, text, value) => {
    expect(readOne(one, text)).toEqual(value);
  });

  test('a relative path in a setting is resolved against the folder', () => {
    expect(readOne(setting.path({ help }), 'none/a')).toBe(join(folder, 'none/a'));
    expect(readOne(setting.file({ help }), './there')).toBe(join(folder, 'there'));
    expect(readEnvironment({ X: setting.path({ help }) }, { X: 'a' }).X).toBe(join(process.cwd(), 'a'));
  });

  test.each<[Setting<unknown>, unknown]>([
    [setting.string({ help, default: 'a' }), 'a'],
    [setting.integer({ help, min: 0, max: 9, default: 0 }), 0],
    [setting.choice({ help, choices: ['a', 'b'], default: 'b' }), 'b'],
    [setting.list({ help, default: ['a', 'b'] }), ['a', 'b']],
    [setting.hostPort({ help, default: '127.0.0.1:8080' }), { host: '127.0.0.1', port: 8080 }],
    [setting.optional(setting.url({ help })), undefined],
  ])('an absent setting has its default: %#', (one, value) => {
    expect(readOne(one, undefined)).toEqual(value);
  });

  test('the types of the values are those of the settings', () => {
    const read = readEnvironment(
      { N: setting.integer({ help, min: 0, max: 9 }), C: choice, O: setting.optional(setting.string({ help })) },
      { N: '1', C: 'None' },
    );
    expectTypeOf(read.N).toEqualTypeOf<number>();
    expectTypeOf(read.C).toEqualTypeOf<'Policy' | 'None'>();
    expectTypeOf(read.O).toEqualTypeOf<string | undefined>();
    expect(read).toEqual({ N: 1, C: 'None' });
  });
});

describe('invalid settings', () => {
  const number = 'but must be a whole number from -2 to 65535';
  const hostPort = 'but must be host:port with a port from 0 to 65535';
  const url = 'but must be an http or https URL without user name and password';
  const list = 'but must be texts separated by commas, none empty or twice';
  test.each<[Setting<unknown>, string, string]>([
    [integer, '-3', `X is "-3" ${number}`],
    [integer, '65536', `X is "65536" ${number}`],
    [integer, '1.0', `X is "1.0" ${number}`],
    [integer, '1e2', `X is "1e2" ${number}`],
    [integer, '0x1', `X is "0x1" ${number}`],
    [integer, '01', `X is "01" ${number}`],
    [integer, ' 1', `X is " 1" ${number}`],
    [integer, '', 'X is empty but must be whole number -2 to 65535'],
    [choice, 'none', 'X is "none" but must be one of Policy, None'],
    [setting.list({ help }), 'a,,b', `X is "a,,b" ${list}`],
    [setting.list({ help }), 'a,b,a', `X is "a,b,a" ${list}`],
    [setting.hostPort({ help }), '8080', `X is "8080" ${hostPort}`],
    [setting.hostPort({ help }), ':8080', `X is ":8080" ${hostPort}`],
    [setting.hostPort({ help }), 'a:65536', `X is "a:65536" ${hostPort}`],
    [setting.hostPort({ help }), '::1:80', `X is "::1:80" ${hostPort}`],
    [setting.hostPort({ help }), 'http://a:80', `X is "http://a:80" ${hostPort}`],
    [setting.url({ help }), 'a.example', `X is "a.example" ${url}`],
    [setting.url({ help }), 'file:///etc/passwd', `X is "file:///etc/passwd" ${url}`],
    [setting.url({ help }), 'https://me:hunter2@a.example', `X is set to a text that contains an @ ${url}`],
    [setting.file({ help }), 'none', 'X is "none" but must be the path of a readable file'],
    [setting.file({ help }), '.', 'X is "." but must be the path of a readable file'],
  ])('an invalid setting is refused with a message: %# %s', (one, text, sentence) => {
    expect(problemsOf(() => readOne(one, text))).toEqual([sentence]);
  });

  test('a missing setting is reported with its type and purpose', () => {
    expect(problemsOf(() => readOne(integer, undefined))).toEqual([
      'X is missing: it must be set (whole number -2 to 65535; what it is for)',
    ]);
  });

  test('an optional setting that is set must be valid', () => {
    expect(problemsOf(() => readOne(setting.optional(choice), 'x'))).toHaveLength(1);
  });

  test('a configuration message shows no secret and truncates a long value', () => {
    const secret = setting.integer({ help, min: 0, max: 9, secret: true });
    expect(problemsOf(() => readOne(secret, 'hunter2'))).toEqual([
      'X is set to another value but must be a whole number from 0 to 9',
    ]);
    expect(problemsOf(() => readOne(integer, 'a'.repeat(500)))[0]?.length).toBeLessThan(200);
  });

  test('all invalid settings are reported together, in the order of the settings', () => {
    const settings = { B: integer, A: choice, D: setting.string({ help }), C: setting.hostPort({ help }) };
    const problems = problemsOf(() => readEnvironment(settings, { A: 'x', B: 'y', C: 'z' }));
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['B', 'A', 'D', 'C']);
  });

  test('the message of a ConfigError is its problems', () => {
    expect(() => readOne(choice, 'x')).toThrow(new ConfigError(['X is "x" but must be one of Policy, None']));
  });
});

test('an unknown name is a problem only under a strict prefix', () => {
  const settings = { APP_A: setting.string({ help, default: 'a' }) };
  const env = { APP_B: '1', APP_A: 'b', OTHER: '1', toString: '1' };
  expect(readEnvironment(settings, env)).toEqual({ APP_A: 'b' });
  expect(problemsOf(() => readEnvironment(settings, env, { strict: ['APP_'] }))).toEqual([
    'APP_B is not a setting of this process: remove it or correct its name',
  ]);
});

test('a setting is not read from the prototype of the environment', () => {
  expect(problemsOf(() => readEnvironment({ constructor: setting.string({ help }) }, {}))).toHaveLength(1);
});

test('the rows of the settings table have type, default and help', () => {
  expect(
    describeSettings({
      A: integer,
      B: setting.list({ help, default: ['a', 'b'] }),
      C: setting.optional(setting.url({ help })),
    }),
  ).toEqual([
    { name: 'A', type: 'whole number -2 to 65535', required: true, default: undefined, help },
    { name: 'B', type: 'list separated by commas', required: false, default: 'a,b', help },
    { name: 'C', type: 'http or https URL', required: false, default: undefined, help },
  ]);
});
