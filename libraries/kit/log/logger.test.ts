import { describe, expect, test } from 'vitest';
import { codeOf, describeFailure } from './describe-failure.ts';
import { createLogger, type LogLevel } from './logger.ts';

function capture(level: LogLevel) {
  const lines: string[] = [];
  const log = createLogger({ service: 'runtime', level, destination: { write: (line) => void lines.push(line) } });
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line)) };
}

test('one line of JSON contains time, level, service, event and the fields', () => {
  const { log, lines, parsed } = capture('info');
  log.info('check.done', { stage: 'request', count: 2, late: false, absent: undefined });
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
  const [{ time, ...rest }] = parsed();
  expect(rest).toEqual({
    level: 'info',
    service: 'runtime',
    event: 'check.done',
    stage: 'request',
    count: 2,
    late: false,
  });
  expect(new Date(time).toISOString()).toBe(time);
});

test.each<[LogLevel, readonly LogLevel[]]>([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
])('a log line of level %s is written to %j', (level, written) => {
  const { log, parsed } = capture(level);
  for (const one of ['debug', 'info', 'warn', 'error'] as const) log[one]('event');
  expect(parsed().map((line) => line.level)).toEqual(written);
});

test.each(['content', 'text', 'token', 'authorization', 'secret', 'prompt', 'body', 'Token', 'AUTHORIZATION'])(
  'a field named %s is dropped, wherever it comes from',
  (name) => {
    const { log, lines } = capture('debug');
    log.error('event', { [name]: 'hunter2', kept: 1 });
    log.with({ [name]: 'hunter2' }).warn('event', { kept: 2 });
    expect(lines.join('')).not.toContain('hunter2');
    expect(lines.every((line) => 'kept' in JSON.parse(line))).toBe(true);
  },
);

test.each(['time', 'level', 'service', 'event'])('a field cannot replace the member %s of a log line', (name) => {
  const { log, lines, parsed } = capture('debug');
  log.info('check.done', { [name]: 'forged' });
  expect(lines[0]).not.toContain('forged');
  expect(parsed()[0]).toMatchObject({ level: 'info', service: 'runtime', event: 'check.done' });
});

test('a logger with fields writes them in every line, and a field of the line takes precedence', () => {
  const { log, parsed } = capture('info');
  const inner = log.with({ policy: 'p', a: 1 }).with({ a: 2 });
  inner.info('event');
  inner.info('event', { a: 3 });
  expect(parsed().map(({ policy, a }) => [policy, a])).toEqual([
    ['p', 2],
    ['p', 3],
  ]);
});

describe('describing a failure in one line', () => {
  test('a failure with a code of Portcullis or of the system is described with its message', () => {
    const ours = Object.assign(new Error('cannot listen:\n port in use'), { code: 'port_in_use' });
    expect(describeFailure(ours)).toBe('cannot listen: port in use (port_in_use)');
    expect(codeOf(ours)).toBe('port_in_use');
  });

  test.each([
    () => JSON.parse('hunter2'),
    () => {
      throw new TypeError('hunter2');
    },
    () => Buffer.from(...(['hunter2', 'hunter2'] as unknown as [string])),
    () => {
      throw 'hunter2';
    },
  ])('a message that may quote user data is not part of the description of a failure: %s', (fail) => {
    let line = '';
    try {
      fail();
    } catch (error) {
      line = describeFailure(error);
    }
    expect(line).not.toBe('');
    expect(line.replaceAll(/\(?file:.*|\bat .*/g, '')).not.toContain('hunter2');
    expect(line).not.toContain('\n');
  });

  test('only a string code is part of the description of a failure', () => {
    expect([codeOf(new Error('a')), codeOf(Object.assign(new Error('a'), { code: 5 })), codeOf('a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
