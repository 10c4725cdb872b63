import { describe, expect, test } from 'vitest';
import { readReply, readReplyRefusal, saysNoStreams, withoutReplaced } from './a2a-reply.ts';

const failed = (...parts: readonly object[]) => ({
  statusUpdate: { status: { state: 'TASK_STATE_FAILED', message: { parts } } },
});
const ofA2a = (reason: string) => ({ reason, domain: 'a2a-protocol.org' });
const ours = (reason: string) => ({ reason, domain: 'portcullis' });

describe('a reply of an agent is read into its parts', () => {
  test.each([
    [
      'a message is a whole reply',
      { message: { contextId: 'c', parts: [{ text: 'a' }, { data: 1 }] } },
      [
        { kind: 'begun', taskId: undefined, contextId: 'c' },
        { kind: 'text', text: 'a' },
        { kind: 'data', data: 1 },
        { kind: 'ended' },
      ],
    ],
    [
      'a task that begins has no end',
      { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
      [{ kind: 'begun', taskId: 't', contextId: 'c' }],
    ],
    [
      'a task that has ended has its artifacts before its end',
      {
        task: {
          id: 't',
          contextId: 'c',
          status: { state: 'TASK_STATE_COMPLETED' },
          artifacts: [{ parts: [{ text: 'a' }] }, { parts: [{ text: 'b' }] }],
        },
      },
      [
        { kind: 'begun', taskId: 't', contextId: 'c' },
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b' },
        { kind: 'ended' },
      ],
    ],
    [
      'a file has its name, or its address or media type without one',
      {
        message: {
          parts: [
            { raw: 'AA==', filename: 'a.pdf', mediaType: 'application/pdf' },
            { url: 'https://files.test/b', filename: '', mediaType: 'image/png' },
            { raw: 'AA==', mediaType: 'image/png' },
            { raw: '', filename: 5 },
          ],
        },
      },
      [
        { kind: 'begun', taskId: undefined, contextId: undefined },
        { kind: 'file', name: 'a.pdf' },
        { kind: 'file', name: 'https://files.test/b' },
        { kind: 'file', name: 'image/png' },
        { kind: 'file', name: 'application/octet-stream' },
        { kind: 'ended' },
      ],
    ],
    [
      'an artifact with an id begins, and its parts have the id',
      { artifactUpdate: { artifact: { artifactId: 'x', parts: [{ text: 'a' }] }, append: false } },
      [
        { kind: 'artifact', artifactId: 'x' },
        { kind: 'text', text: 'a', artifactId: 'x' },
      ],
    ],
    [
      'parts that are appended to an artifact do not begin it',
      { artifactUpdate: { artifact: { artifactId: 'x', parts: [{ data: 1 }] }, append: true } },
      [{ kind: 'data', data: 1, artifactId: 'x' }],
    ],
    [
      'a task that waits for a message has its question as text',
      { statusUpdate: { status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'When?' }] } } } },
      [{ kind: 'text', text: 'When?' }, { kind: 'asked' }],
    ],
    [
      'the data of a failed task is its code',
      failed({ text: 'x' }, { data: { code: 'flow_failed', message: 'm' } }),
      [{ kind: 'failed', code: 'flow_failed', message: 'm' }],
    ],
    [
      'a failed task without a code has the text of the agent',
      failed({ text: 'No stock.' }),
      [{ kind: 'failed', code: 'TASK_STATE_FAILED', message: 'No stock.' }],
    ],
    [
      'a failed task without any text has a sentence',
      failed(),
      [{ kind: 'failed', code: 'TASK_STATE_FAILED', message: 'The task did not complete.' }],
    ],
    [
      'the error that ends a stream has the code of the gateway',
      { error: { code: 403, message: 'Denied.', details: [ofA2a('X'), ours('guardrail_denied')] } },
      [{ kind: 'failed', code: 'guardrail_denied', message: 'Denied.' }],
    ],
    ['an unknown event has no part', { later: {} }, []],
  ])('the parts of an A2A reply are read: %s', (_title, json, parts) => {
    expect(readReply(json)).toEqual(parts);
  });

  test('an artifact that begins again replaces only its own parts', () => {
    const update = (artifactId: string, text: string, append: boolean) =>
      readReply({ artifactUpdate: { artifact: { artifactId, parts: [{ text }] }, append } });
    const parts = [
      ...update('x', 'draft', false),
      ...update('y', 'kept', false),
      ...update('x', ' of it', true),
      ...readReply({ artifactUpdate: { artifact: { parts: [{ text: 'no id' }] } } }),
      ...update('x', 'final', false),
      ...update('x', ' text', true),
    ];
    const textsOf = (all: typeof parts) => all.flatMap((part) => (part.kind === 'text' ? part.text : []));
    expect(textsOf(parts)).toEqual(['draft', 'kept', ' of it', 'no id', 'final', ' text']);
    expect(textsOf([...withoutReplaced(parts)])).toEqual(['kept', 'no id', 'final', ' text']);
  });

  test('an A2A reply of another form is refused', () => {
    expect(() => readReply({ message: { parts: 'a' } })).toThrow('parts');
  });
});

test.each([
  [404, { error: { code: 404, status: 'NOT_FOUND' } }, true],
  [405, undefined, true],
  [501, 'text', true],
  [400, { error: { message: 'no', details: [ofA2a('UNSUPPORTED_OPERATION')] } }, true],
  [400, { error: { message: 'no', details: [ofA2a('X'), ours('UnsupportedOperationError')] } }, true],
  [404, { error: { message: 'no', details: [ours('not_found')] } }, false],
  [400, { error: { message: 'no', details: [ofA2a('TASK_NOT_FOUND')] } }, false],
  [500, undefined, false],
])('a refusal with status %i and body %j says that the agent does not stream: %s', (status, json, is) => {
  expect(saysNoStreams(status, json)).toBe(is);
});

test.each([
  [403, { error: { message: 'Denied.', details: [ours('forbidden')] } }, { code: 'forbidden', message: 'Denied.' }],
  [404, { error: { code: 404 } }, { code: '404', message: '' }],
  [502, undefined, { code: '502', message: '' }],
])('a refusal with status %i and body %j is read', (status, json, failure) => {
  expect(readReplyRefusal(status, json)).toEqual(failure);
});
