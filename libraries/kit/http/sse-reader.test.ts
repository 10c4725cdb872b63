import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutAt } from '../testing/cut-at.ts';
import { type SseEvent, SseReader } from './sse-reader.ts';

function read(bytes: Uint8Array, cuts: readonly number[] = [], limit = 1_000): string[] {
  const reader = new SseReader(limit);
  const seen: string[] = [];
  for (const part of cutAt(bytes, cuts)) {
    reader.push(part);
    for (let event = reader.next(); event !== undefined; event = reader.next()) {
      seen.push(describeEvent(event));
      if (event.kind === 'too_large') return seen;
    }
  }
  return seen;
}

function describeEvent(event: SseEvent): string {
  return event.kind === 'data' ? `${event.name}|${event.data.toString('utf8')}` : event.kind;
}

describe('a stream of events', () => {
  test.each<[string, string, readonly string[]]>([
    ['LF', 'data: a\n\ndata: b\n\n', ['|a', '|b']],
    ['CR', 'data: a\r\rdata: b\r\r', ['|a', '|b']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['|a', '|b']],
    ['line ends of every sort together', 'data: a\r\ndata: b\r\n\ndata: c\n\r', ['|a\nb', '|c']],
    ['a byte order mark in front', '\u{feff}data: a\n\n', ['|a']],
    ['a byte order mark elsewhere, which makes another field', 'data: a\n\n\u{feff}data: b\n\n', ['|a']],
    ['no space, one space and two', 'data:a\ndata: b\ndata:  c\n\n', ['|a\nb\n c']],
    ['a field without a colon', 'data\ndata\n\n', ['|\n']],
    ['empty data', 'data:\n\n', ['|']],
    ['events without data', 'event: x\n\nid: 1\n\n\n\ndata: a\n\n', ['|a']],
    ['a name that holds for its event only', 'event: x\ndata: a\n\ndata: b\n\n', ['x|a', '|b']],
    ['fields that mean nothing', 'retry: 5\nfoo: bar\nDATA: x\ndata: a\n\n', ['|a']],
    ['comments', ': hello\n:\ndata: a\n\n', ['comment', 'comment', '|a']],
    ['an event that the end cuts off', 'data: a\n\ndata: b\n', ['|a']],
    ['nothing', '', []],
  ])('a stream with %s is read as the standard says', (_, text, expected) => {
    expect(read(Buffer.from(text))).toEqual(expected);
  });

  test('server-sent events do not depend on how the bytes were split', () => {
    const line = fc.constantFrom('data: я', 'data:', 'event: n', ': c', 'id: 1', '', '', 'x');
    const end = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end)), fc.boolean(), fc.array(fc.nat(80)), (lines, mark, cuts) => {
        const text = (mark ? '\u{feff}' : '') + lines.map(([one, after]) => one + after).join('');
        const bytes = Buffer.from(text);
        expect(read(bytes, cuts)).toEqual(read(bytes));
        expect(read(bytes, [...bytes.keys()])).toEqual(read(bytes));
      }),
    );
  });

  test('the limit counts all lines of an event, or one comment, and starts again with the next', () => {
    const event = (bytes: number): string => `data:${'x'.repeat(bytes - 10)}\ndata:\n\n`;
    expect(read(Buffer.from(event(99) + event(99)), [], 100)).toHaveLength(2);
    expect(read(Buffer.from(event(107)), [], 100)).toEqual(['too_large']);
    expect(read(Buffer.from(`:${'x'.repeat(99)}\n`), [], 100)).toEqual(['comment']);
    expect(read(Buffer.from(`:${'x'.repeat(100)}`), [], 100)).toEqual(['too_large']);
  });
});
