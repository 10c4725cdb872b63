import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '#contracts/limits';
import { cutAt } from '#kit/testing/cut-at';
import { verifies } from '../../../e2e/support/verifies.ts';
import { denies, runGuard } from '../testing/run-guard.ts';
import { chunkJson, contentOf, contentStream, dataEvent, eventsOf } from '../testing/stream-script.ts';
import { StreamGuard, streamBounds } from './stream-guard.ts';

const whole = (text: string): Uint8Array[] => [Buffer.from(text)];
const bytesOf = (text: string): number => Buffer.byteLength(text);

const alphabets = ['abc xyz_9 ', 'абв яё-', '漢字かな。', '😀👍🏽e\u0301 ', 'aя漢😀 '].map((letters) => [...letters]);
const textOf = (maxLength: number) =>
  fc
    .constantFrom(...alphabets)
    .chain((letters) => fc.array(fc.constantFrom(...letters), { maxLength, size: 'max' }))
    .map((letters) => letters.join(''));
const cuts = fc.array(fc.nat(6_000), { maxLength: 40, size: 'max' });

/** A phrase of at most 256 bytes that generated texts never contain by chance. */
const phrase = fc
  .tuple(fc.constantFrom('Z', 'Ж', '禁', '🚫'), fc.integer({ min: 1, max: limits.overlapBytes }))
  .map(([letter, bytes]) => letter.repeat(Math.max(1, Math.floor(bytes / bytesOf(letter)))));

describe('a phrase in a stream', () => {
  verifies(
    ['gateway:stream:window-1024', 'gateway:stream:overlap-256'],
    'a phrase of up to 256 bytes lies entirely in some window and none of its bytes is sent, however the stream is split',
    () => {
      fc.assert(
        fc.property(textOf(1_500), phrase, textOf(1_500), cuts, cuts, (before, forbidden, after, inText, inBytes) => {
          const text = before + forbidden + after;
          const stream = contentStream(cutAt(text, inText));
          const result = runGuard(cutAt(Buffer.from(stream), inBytes), denies(forbidden));
          expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
          expect(result.windows.at(-1)).toContain(forbidden);
          const content = contentOf(eventsOf(result.emitted));
          expect(before.startsWith(content.isWellFormed() ? content : content.slice(0, -1))).toBe(true);
          expect(result.emitted).not.toContain('[DONE]');
        }),
        { numRuns: 300 },
      );
    },
  );

  test('a phrase is found at every offset around the border of a window', () => {
    const forbidden = '🚫'.repeat(64);
    expect(bytesOf(forbidden)).toBe(limits.overlapBytes);
    for (let offset = limits.windowBytes - 330; offset <= limits.windowBytes + 10; offset += 1) {
      const text = `${'x'.repeat(offset)}${forbidden}${'y'.repeat(700)}`;
      const result = runGuard(whole(contentStream(cutAt(text, [offset + 3, offset + 100]))), denies(forbidden));
      expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
      expect(contentOf(eventsOf(result.emitted)).replaceAll('x', '')).toBe('');
    }
  });
});

test('no byte of a phrase of 256 bytes across a window border is sent, at each of the offsets around it', () => {
  const forbidden = 'Z'.repeat(limits.overlapBytes);
  const begins = limits.windowBytes - limits.overlapBytes;
  for (let offset = begins - 3; offset <= begins + 3; offset += 1) {
    const text = `${'x'.repeat(offset)}${forbidden}${'y'.repeat(900)}`;
    const result = runGuard(whole(contentStream([...text])), denies(forbidden));
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    const straddles = offset > begins;
    expect(contentOf(eventsOf(result.emitted)).length).toBe(straddles ? begins + 1 : 0);
  }
});

describe('a clean stream', () => {
  test('a clean stream arrives with the same JSON bytes in the same order, however it is split and whatever its line ends', () => {
    fc.assert(
      fc.property(textOf(2_500), cuts, cuts, fc.constantFrom('\n', '\r', '\r\n'), (text, inText, inBytes, lineEnd) => {
        const stream = contentStream(cutAt(text, inText), lineEnd);
        const result = runGuard(cutAt(Buffer.from(stream), inBytes));
        expect(result.end).toEqual({ kind: 'finished' });
        expect(eventsOf(result.emitted)).toEqual(eventsOf(contentStream(cutAt(text, inText))));
        for (const [index, window] of result.windows.entries()) {
          expect(bytesOf(window)).toBeLessThanOrEqual(limits.windowBytes + (index === 0 ? 0 : limits.overlapBytes));
        }
      }),
      { numRuns: 200 },
    );
  });

  test('a stream is judged in the same windows however it is split', () => {
    const text = 'слово '.repeat(700);
    const one = runGuard(whole(contentStream([text])));
    const many = runGuard(
      cutAt(
        Buffer.from(contentStream([...text])),
        Array.from({ length: 3_000 }, (_, at) => at * 7),
      ),
    );
    expect(many.windows).toEqual(one.windows);
  });

  test('streaming windows end between words where possible', () => {
    const { windows } = runGuard(whole(contentStream(['семнадцать '.repeat(300)])));
    expect(windows.length).toBeGreaterThan(3);
    expect(windows.every((window) => /(^|[ь ])$/.test(window))).toBe(true);
  });

  verifies(
    ['gateway:stream:short-answer-at-end'],
    'an answer shorter than a window is sent at its end only, after its check',
    () => {
      const order: string[] = [];
      const guard = new StreamGuard();
      guard.receive(Buffer.from(dataEvent(chunkJson({ content: 'a short answer' }))));
      for (;;) {
        const step = guard.next();
        order.push(step.kind);
        if (step.kind === 'read') guard.receive(Buffer.from(dataEvent('[DONE]')));
        if (step.kind === 'check') guard.judged({ kind: 'pass' });
        if (step.kind === 'finished') break;
      }
      expect(order).toEqual(['read', 'check', 'emit', 'finished']);
    },
  );

  test('a stream without text passes frame by frame without a check', () => {
    const guard = new StreamGuard();
    const chunk = chunkJson({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] });
    guard.receive(Buffer.from(dataEvent(chunk)));
    expect(guard.next()).toEqual({ kind: 'emit', bytes: Buffer.from(dataEvent(chunk)) });
    expect(guard.next()).toEqual({ kind: 'read' });
  });

  test('frames with and without text keep their order', () => {
    const chunks = [
      chunkJson({ content: 'text' }),
      chunkJson({ tool_calls: [] }),
      chunkJson({ content: null, reasoning_content: 'thought' }),
    ];
    const result = runGuard(whole(`${chunks.map((chunk) => dataEvent(chunk)).join('')}${dataEvent('[DONE]')}`));
    expect(eventsOf(result.emitted)).toEqual([...chunks, '[DONE]']);
  });

  test('JSON over several data lines is kept, and the text of comments is dropped', () => {
    const lines = chunkJson({ content: 'x' }).replace(',', ',\n\n ').split('\n');
    const result = runGuard(
      whole(`: secret\n${lines.map((line) => `data: ${line}\n`).join('')}\n${dataEvent('[DONE]')}`),
    );
    expect(result.end).toEqual({ kind: 'finished' });
    expect(eventsOf(result.emitted)[0]).toBe(lines.join('\n'));
    expect(result.emitted).not.toContain('secret');
    expect(result.emitted.startsWith(':\n\n')).toBe(true);
  });
});

describe('content and refusal', () => {
  test.each(['content', 'refusal'])('a phrase in %s alone is found although the other text interrupts it', (field) => {
    const other = field === 'content' ? 'refusal' : 'content';
    const chunks = ['for', 'bid', 'den'].flatMap((piece) => [{ [field]: piece }, { [other]: 'words' }]);
    const stream = chunks.map((delta) => dataEvent(chunkJson(delta))).join('') + dataEvent('[DONE]');
    const result = runGuard(whole(stream), denies('forbidden'));
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(result.emitted).toBe('');
  });
});

describe('content in parts', () => {
  const reasoning = chunkJson({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'let me think' }] }] });
  const part = (text: string) => chunkJson({ content: [{ type: 'text', text }] });

  test('text parts are judged as one text with texts that are strings, and every frame is sent unchanged', () => {
    const frames = [reasoning, part('a '), chunkJson({ content: 'forbid' }), part('den word')];
    const stream = [...frames, '[DONE]'].map((data) => dataEvent(data)).join('');
    expect(runGuard(whole(stream))).toMatchObject({ emitted: stream, windows: ['a forbidden word'] });
    const denied = runGuard(whole(stream), denies('forbidden'));
    expect(denied.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(denied.emitted).not.toContain('forbid');
  });

  test('a phrase that is split over the parts of one frame and of several frames is found', () => {
    const split = chunkJson({
      content: [
        { type: 'text', text: 'for' },
        { type: 'text', text: 'bid' },
      ],
    });
    const stream = [part('the '), split, part('den')].map((data) => dataEvent(data)).join('') + dataEvent('[DONE]');
    expect(runGuard(whole(stream), denies('forbidden')).end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
  });
});

describe('frames without choices', () => {
  const usage = '{"id":"c-1","object":"chat.completion.chunk","model":"Some Model (new)","usage":{"total_tokens":7}}';
  const frames = [chunkJson({ content: 'fine' }), usage];
  const stream = [...frames, '[DONE]'].map((data) => dataEvent(data)).join('');
  const foreign = [chunkJson({ content: 'fine' }), '{"note":"forbidden"}', '[DONE]']
    .map((data) => dataEvent(data))
    .join('');

  test('a frame without choices that has the usage is sent in its place', () => {
    expect(runGuard(whole(stream))).toMatchObject({ emitted: stream, end: { kind: 'finished' } });
  });

  test('a frame without choices that has other text is judged where the binding has parameters judged, refused where it refuses such text, and ends the stream elsewhere', () => {
    const run = (judged: readonly 'parameters'[], refuseUnjudged: boolean) =>
      runGuard(whole(foreign), denies('forbidden'), {
        judged: new Set(judged),
        refuseUnjudged,
        limits: { maxMessages: 32, maxBodyBytes: 32_768 },
      }).end;
    expect(run(['parameters'], false)).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(run([], true)).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'unjudged' } });
    expect(run([], false)).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'invalid' } });
    expect(runGuard(whole(foreign)).end).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'invalid' } });
  });
});

test('a null delta and an empty finish reason count as absent', () => {
  const frames = [
    '{"choices":[{"index":0,"delta":null,"finish_reason":""}]}',
    chunkJson({ content: 'text' }),
    '{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}',
  ].map((data) => dataEvent(data));
  const stream = [...frames, dataEvent('[DONE]')].join('');
  expect(runGuard(whole(stream))).toMatchObject({ emitted: stream, windows: ['text'], end: { kind: 'finished' } });
  const call = (finish: string): string =>
    JSON.stringify({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0 }], pad: 'x'.repeat(1_000) }, finish_reason: finish }],
    });
  const calls = (finish: string): string =>
    dataEvent(chunkJson({ content: 'text' })) + Array.from({ length: 80 }, () => dataEvent(call(finish))).join('');
  expect(runGuard(whole(calls(''))).beforeEnd).not.toBe('');
  expect(runGuard(whole(calls('stop'))).beforeEnd).toBe('');
});

describe('stopping a stream', () => {
  const invalid = { kind: 'stopped', stop: { kind: 'upstream', fault: 'invalid' } };

  test.each([
    ['an error object', '{"error":{"message":"provider text"}}'],
    ['data that is not JSON', 'hello'],
    ['a repeated key', '{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}'],
    ['a key in another case', '{"choices":[{"index":0,"delta":{"Content":"b"}}]}'],
    ['a key that folds to a known one', '{"choice\u017f":[{"index":0,"delta":{"content":"b"}}],"choices":[]}'],
    ['a second choice', '{"choices":[{"index":0,"delta":{}},{"index":1,"delta":{"content":"b"}}]}'],
    ['another index', '{"choices":[{"index":1,"delta":{"content":"b"}}]}'],
    ['text in a frame without choices', '{"response":"b"}'],
    ['an answer in another form', '{"type":"content_block_delta","delta":{"type":"text_delta","text":"b"}}'],
    ['choices that are no list', '{"choices":{}}'],
    ['a whole message', '{"choices":[{"index":0,"delta":{},"message":{"content":"b"}}]}'],
    ['a legacy text', '{"choices":[{"index":0,"text":"b"}]}'],
    ['audio', '{"choices":[{"index":0,"delta":{"audio":{"transcript":"b"}}}]}'],
    ['a part of an unknown type', '{"choices":[{"index":0,"delta":{"content":[{"type":"output","text":"b"}]}}]}'],
    ['a part whose text is no string', '{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":1}]}}]}'],
    ['half a surrogate pair at its end', '{"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}'],
    ['the second half of a surrogate pair first', '{"choices":[{"index":0,"delta":{"content":"\\ude00"}}]}'],
  ])('a stream with %s is stopped', (_, data) => {
    const result = runGuard(whole(dataEvent(data) + dataEvent('[DONE]')));
    expect(result.end).toEqual(invalid);
    expect(result.emitted).toBe('');
  });

  test('a stream with a named event or with invalid UTF-8 is stopped', () => {
    const chunk = chunkJson({ content: 'x' });
    expect(runGuard(whole(`event: error\n${dataEvent(chunk)}`)).end).toEqual(invalid);
    expect(
      runGuard([Buffer.concat([Buffer.from('data: {"choices":[],"a":"'), Buffer.from([0xff]), Buffer.from('"}\n\n')])])
        .end,
    ).toEqual(invalid);
  });

  test('a stream that ends before [DONE] is stopped, and only released frames are sent', () => {
    const stream = contentStream(['text']).replace(dataEvent('[DONE]'), '');
    const result = runGuard(whole(stream));
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'broken' } });
    expect(contentOf(eventsOf(result.emitted))).toBe('');
  });

  verifies(
    ['gateway:events:error-is-not-match'],
    'a failed check stops a stream as a failure, and a match as a deny',
    () => {
      const failed = runGuard(whole(contentStream(['text'])), () => ({ kind: 'failed', code: 'stage_timeout' }));
      expect(failed.end).toEqual({ kind: 'stopped', stop: { kind: 'check_failed', code: 'stage_timeout' } });
      const denied = runGuard(whole(contentStream(['text'])), () => ({ kind: 'deny' }));
      expect(denied.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    },
  );

  test('text that was released before a stop is sent', () => {
    const text = `${'word '.repeat(400)}forbidden`;
    const result = runGuard(whole(contentStream(text.match(/.{1,20}/gs) ?? [])), denies('forbidden'));
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    const content = contentOf(eventsOf(result.emitted));
    expect(content.length).toBeGreaterThan(700);
    expect(text.startsWith(content)).toBe(true);
  });
});

describe('bounds', () => {
  const eventOf = (bytes: number): string => {
    const chunk = chunkJson({ tool_calls: '' });
    return dataEvent(
      chunk.replace('"tool_calls":""', `"tool_calls":"${'x'.repeat(bytes - chunk.length - 'data: '.length)}"`),
    );
  };

  test('one event may have 1 MiB, and one byte more stops the stream', () => {
    expect(runGuard(whole(eventOf(streamBounds.eventBytes) + dataEvent('[DONE]'))).end).toEqual({ kind: 'finished' });
    expect(runGuard(whole(eventOf(streamBounds.eventBytes + 1) + dataEvent('[DONE]'))).end).toEqual({
      kind: 'stopped',
      stop: { kind: 'upstream', fault: 'event_too_large' },
    });
  });

  test('a line that never ends stops the stream at the size limit of an event', () => {
    const guard = new StreamGuard();
    guard.receive(Buffer.alloc(streamBounds.eventBytes + 1, 'x'));
    expect(guard.next()).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'event_too_large' } });
  });

  test('1 MiB of frames may be held, and one byte more stops the stream', () => {
    const text = chunkJson({ content: 'held' });
    // A frame with a finish reason follows the text that precedes it.
    const filler = (bytes: number): string => {
      const chunk = chunkJson({ tool_calls: '' }, 'stop');
      return dataEvent(chunk.replace('"tool_calls":""', `"tool_calls":"${'x'.repeat(bytes - chunk.length)}"`));
    };
    const rest = streamBounds.heldBytes - bytesOf(text) - 500_000;
    const stream = (bytes: number): Uint8Array[] =>
      whole(dataEvent(text) + filler(500_000) + filler(bytes) + dataEvent('[DONE]'));
    expect(runGuard(stream(rest)).end).toEqual({ kind: 'finished' });
    const over = runGuard(stream(rest + 1));
    expect(over.end).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'held_too_much' } });
    expect(over.emitted).toBe('');
  });
});

describe('whatever an upstream sends', () => {
  const forbidden = 'ЗАПРЕТ';
  const edit = fc.record({ at: fc.nat(3_000), remove: fc.nat(4), insert: fc.uint8Array({ maxLength: 4 }) });

  /** A stream that contains a forbidden phrase, with randomly removed and inserted bytes. */
  function mutated(text: string, edits: readonly { at: number; remove: number; insert: Uint8Array }[]): Buffer {
    let bytes = Buffer.from(contentStream(cutAt(text, [9, 40, 41, 100, 700, 1_300])));
    for (const { at, remove, insert } of edits) {
      const place = at % bytes.length;
      bytes = Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + remove)]);
    }
    return bytes;
  }

  test('a mutated stream ends with a result, and no phrase is sent', () => {
    fc.assert(
      fc.property(textOf(900), textOf(900), fc.array(edit, { maxLength: 3 }), cuts, (before, after, edits, inBytes) => {
        const bytes = mutated(before + forbidden + after, edits);
        const result = runGuard(cutAt(bytes, inBytes), denies(forbidden));
        expect(contentOf(eventsOf(result.emitted))).not.toContain(forbidden);
        expect(result.emitted.includes('[DONE]')).toBe(result.end.kind === 'finished');
      }),
      { numRuns: 400 },
    );
  });

  test('random bytes stop the stream, and nothing is sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400, size: 'max' }), cuts, (bytes, inBytes) => {
        const result = runGuard(cutAt(bytes, inBytes));
        expect(result.end.kind).toBe('stopped');
        expect(result.emitted.replaceAll(':\n\n', '')).toBe('');
      }),
    );
  });
});
