import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checksSize } from '#checks/batch-messages';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { limits } from '#contracts/limits';
import { cutAt } from '#kit/testing/cut-at';
import {
  callItem,
  messageItem,
  reasoningItem,
  responseBody,
  responseEvents,
  responseStream,
  sentEvents,
} from '../testing/response-script.ts';
import { denies, deniesMatch, runMachine } from '../testing/run-guard.ts';
import { seamsOf } from './join-texts.ts';
import { ResponseGuard, responseStreamBounds } from './response-guard.ts';

const checkLimits = { maxMessages: 32, maxBodyBytes: 32_768 };
type Events = readonly Readonly<Record<string, unknown>>[];

function run(
  parts: readonly Uint8Array[],
  judge?: Parameters<typeof runMachine>[2],
  coverage: { readonly judged?: readonly JudgedTextKind[]; readonly refuseUnjudged?: boolean } = {},
) {
  const { judged = [], refuseUnjudged = false } = coverage;
  const guard = new ResponseGuard({ judged: new Set(judged), refuseUnjudged, limits: checkLimits }, (frame) => frame);
  return runMachine(guard, parts, judge);
}

const streamed = (events: Events): Uint8Array[] => [Buffer.from(responseStream(events))];
const textOf = (emitted: string): string =>
  sentEvents(emitted)
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => delta)
    .join('');

const letters = fc.constantFrom(...['abc xyz_9 ', 'абв яё-', '漢字かな。', '😀👍🏽e\u0301 '].map((some) => [...some]));
const text = (maxLength: number) =>
  letters
    .chain((some) => fc.array(fc.constantFrom(...some), { maxLength, size: 'max' }))
    .map((characters) => characters.join(''));
const cuts = fc.array(fc.nat(6_000), { maxLength: 30, size: 'max' });
const phrase = fc
  .tuple(fc.constantFrom('Z', 'Ж', '禁', '🚫'), fc.integer({ min: 1, max: limits.overlapBytes }))
  .map(([letter, bytes]) => letter.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(letter)))));
const denied = { kind: 'stopped', stop: { kind: 'denied' } };

describe('a streamed response', () => {
  test('no event sent to the client contains a byte of a forbidden phrase of up to 256 bytes, wherever the stream is split', () => {
    fc.assert(
      fc.property(
        text(1_500),
        phrase,
        text(1_500),
        text(300),
        cuts,
        cuts,
        (before, bad, after, other, inText, inBytes) => {
          const items = [messageItem([other]), messageItem([other, before + bad + after], 'msg_2')];
          const stream = responseStream(responseEvents(items, (whole) => cutAt(whole, inText)));
          const result = run(cutAt(Buffer.from(stream), inBytes), denies(bad));
          expect(result.end).toEqual(denied);
          expect(result.emitted).not.toContain([...bad][0]);
          expect((other + other + before).startsWith(withoutHalf(textOf(result.emitted)))).toBe(true);
        },
      ),
      { numRuns: 200, endOnFailure: true },
    );
  });

  test('a clean response arrives with the same events in the same order, however it is split', () => {
    fc.assert(
      fc.property(text(2_500), text(200), cuts, cuts, (long, short, inText, inBytes) => {
        const items = [reasoningItem(short), messageItem([short, long]), callItem('{"a":1}')];
        const stream = responseStream(responseEvents(items, (whole) => cutAt(whole, inText)));
        const result = run(cutAt(Buffer.from(stream), inBytes));
        expect(result.end).toEqual({ kind: 'finished' });
        expect(result.emitted).toBe(stream);
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });

  test('a text is judged in windows and not again where later events repeat it', () => {
    const long = 'word '.repeat(500);
    const { windows } = run(streamed(responseEvents([messageItem([long])], (whole) => [...whole])));
    expect(windows).toHaveLength(3);
    expect(windows.every((window) => Buffer.byteLength(window) <= 1_280)).toBe(true);
  });

  test('text is sent before the response is complete, and the last 255 judged bytes are held', () => {
    const long = 'x'.repeat(1_025);
    const events = responseEvents([messageItem([long])], (whole) => [...whole]);
    const deltas = events.filter(({ type }) => type !== 'response.output_text.done').slice(0, 4 + 1_025);
    const { beforeEnd } = run(streamed(deltas));
    expect(textOf(beforeEnd)).toHaveLength(1_024 - 255);
    expect(textOf(run(streamed(deltas.slice(0, -1))).beforeEnd)).toHaveLength(0);
  });

  test('the end of a text releases it immediately, before the next item', () => {
    const events = responseEvents([messageItem(['a short preamble']), callItem('{"q":1}')]);
    const upTo = events.findIndex(({ type }) => type === 'response.output_text.done');
    expect(textOf(run(streamed(events.slice(0, upTo + 1))).beforeEnd)).toBe('a short preamble');
    expect(textOf(run(streamed(events.slice(0, upTo))).beforeEnd)).toBe('');
  });

  const places: readonly (readonly [string, (events: Events) => Events])[] = [
    ['the done event of the text', (events) => replace(events, 'response.output_text.done', { text: 'BAD' })],
    ['a finished part', (events) => replace(events, 'response.content_part.done', { part: part('BAD') })],
    ['a new part', (events) => replace(events, 'response.content_part.added', { part: part('BAD') })],
    [
      'a refusal',
      (events) => replace(events, 'response.content_part.done', { part: { type: 'refusal', refusal: 'BAD' } }),
    ],
    ['a finished item', (events) => replace(events, 'response.output_item.done', { item: messageItem(['BAD']) })],
    ['a new item', (events) => replace(events, 'response.output_item.added', { item: messageItem(['BAD']) })],
    [
      'an item of an unknown type',
      (events) => replace(events, 'response.output_item.done', { item: { type: 'poem', verse: 'BAD' } }),
    ],
    [
      'the whole response',
      (events) => replace(events, 'response.completed', { response: responseBody([messageItem(['BAD'])]) }),
    ],
    [
      'its output_text',
      (events) => replace(events, 'response.completed', { response: responseBody([], { output_text: 'BAD' }) }),
    ],
    [
      'the first event',
      (events) => replace(events, 'response.created', { response: responseBody([messageItem(['BAD'])]) }),
    ],
    [
      'an event of an unknown type',
      (events) => replace(events, 'response.in_progress', { type: 'response.poem', verse: 'BAD' }),
    ],
  ];
  const misplaced: readonly (readonly [string, Events[number]])[] = [
    ['a piece of a text', { type: 'response.output_text.delta', delta: 'x', text: 'BAD' }],
    ['the end of a text', { type: 'response.output_text.done', text: '', delta: 'BAD' }],
    ['a new item', { type: 'response.output_item.added', item: { type: 'reasoning' }, part: part('BAD') }],
    ['a new part', { type: 'response.content_part.added', part: part(''), item: messageItem(['BAD']) }],
    ['the first event', { type: 'response.created', response: responseBody([]), code: 'BAD' }],
    ['the end of a call', { type: 'response.function_call_arguments.done', delta: '', code: 'BAD' }],
    ['a piece of reasoning', { type: 'response.reasoning_text.delta', delta: '', text: 'BAD' }],
  ];
  test('a single word in an item of an unknown type is judged, but not the words of the API in it', () => {
    const item = { type: 'poem', status: 'completed', verse: ['a', { line: 'badword' }] };
    const stream = streamed([{ type: 'response.completed', response: responseBody([item]) }]);
    expect(run(stream, denies('badword'))).toMatchObject({ end: denied, emitted: '' });
    expect(run(stream).windows).toEqual(['a', 'badword']);
  });

  test.each(misplaced)('text in a member of another event in %s is judged before it is sent', (_, one) => {
    const events = responseEvents([]);
    const stream = streamed([...events.slice(0, 2), one, ...events.slice(2)]);
    const result = run(stream, denies('BAD'));
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('BAD');
    expect(run(stream).end).toEqual({ kind: 'finished' });
  });

  test('a forbidden phrase that is split over several events of an unknown type is not sent, not even in part', () => {
    const events = responseEvents([messageItem(['fine'])]);
    const pieces = (end: string): Events => [
      ...[...'my BAD verse'].map((delta) => ({ type: 'response.poem.delta', delta })),
      { type: 'response.poem.done' },
      ...[...end].map((delta) => ({ type: 'response.poem.delta', delta: { verse: delta } })),
    ];
    const stream = streamed([...events.slice(0, 2), ...pieces('more'), ...events.slice(2)]);
    const result = run(stream, denies('BAD'));
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('response.poem');
    const passed = run(stream);
    expect(passed.end).toEqual({ kind: 'finished' });
    expect(passed.windows).toEqual(['my BAD verse', 'fine', 'more']);
    const ended = run(streamed([...events.slice(0, 2), ...pieces('')]));
    expect(sentEvents(ended.beforeEnd)).toHaveLength(2 + 'my BAD verse'.length + 1);
  });

  test('a string in a list of pieces is judged alone, too, because a reader can read it without the previous one', () => {
    const events = responseEvents([messageItem(['fine'])]);
    const poem = (...pieces: readonly unknown[]): Uint8Array[] =>
      streamed([
        ...events.slice(0, 2),
        ...pieces.map((delta) => ({ type: 'response.poem.delta', delta })),
        ...events.slice(2),
      ]);
    for (const stream of [
      poem(['Visa', '4111']),
      poem(['Visa'], ['4111']),
      poem({ lines: ['Visa', { of: '4111' }] }),
    ]) {
      const result = run(stream, deniesMatch(/\b4111\b/));
      expect(result.end).toEqual(denied);
      expect(result.emitted).not.toContain('4111');
      expect(run(stream).end).toEqual({ kind: 'finished' });
    }
    expect(run(poem('Visa', '4111'), deniesMatch(/\b4111\b/)).end).toEqual({ kind: 'finished' });
    const half = run(poem(['4111 \ud83d'], ['\ude00']));
    expect(half.end).toEqual({ kind: 'finished' });
    expect(half.windows).toContain('4111 😀');
  });

  test.each(['response.output_text.done', 'response.content_part.done', 'response.output_item.done'])(
    'another complete text in %s is judged with the text before it, before it is sent',
    (type) => {
      const stream = (text: string): Uint8Array[] =>
        streamed(
          responseEvents([messageItem(['it is bo']), messageItem(['x'], 'msg_2')], (whole) => [whole]).map((one) => {
            if (one['type'] !== type || one['output_index'] !== 1) return one;
            if ('item' in one) return { ...one, item: messageItem([text], 'msg_2') };
            return 'part' in one ? { ...one, part: part(text) } : { ...one, text };
          }),
        );
      const result = run(stream('mb'), denies('bomb'));
      expect(result.end).toEqual(denied);
      expect(result.emitted).not.toContain('"mb"');
      expect(result.windows).toContain('mb');
      expect(run(stream('nd'), denies('bomb')).end).toEqual({ kind: 'finished' });
    },
  );

  test.each(['response.output_text.done', 'response.content_part.done', 'response.output_item.done'])(
    'the text after another complete text in %s is judged with it, before it is sent',
    (type) => {
      const stream = (text: string): Uint8Array[] =>
        streamed(
          responseEvents([messageItem(['it is fine']), messageItem(['mb'], 'msg_2')], (whole) => [whole]).map((one) => {
            if (one['type'] !== type || one['output_index'] !== 0) return one;
            if ('item' in one) return { ...one, item: messageItem([text]) };
            return 'part' in one ? { ...one, part: part(text) } : { ...one, text };
          }),
        );
      const result = run(stream('it is bo'), denies('bomb'));
      expect(result.end).toEqual(denied);
      expect(result.emitted).not.toContain('"mb"');
      expect(run(stream('it is no'), denies('bomb')).end).toEqual({ kind: 'finished' });
    },
  );

  const joints: readonly (readonly [string, readonly ReturnType<typeof messageItem>[]])[] = [
    ['two parts of a message', [messageItem(['it is B', 'AD here'])]],
    ['two messages', [messageItem(['it is B']), callItem('{}'), messageItem(['AD here'], 'msg_2')]],
  ];
  test.each(joints)('when a forbidden phrase is split between %s, its second part is not sent', (_, items) => {
    const result = run(streamed(responseEvents(items, (whole) => [...whole])), denies('BAD'));
    expect(result.end).toEqual(denied);
    expect(textOf(result.emitted)).toBe('it is B');
    const whole = [{ type: 'response.completed', response: responseBody(items) }];
    expect(run(streamed(whole), denies('BAD'))).toMatchObject({ end: denied, emitted: '' });
  });

  const glued: readonly (readonly [string, readonly ReturnType<typeof messageItem>[]])[] = [
    ['a part', [messageItem(['it is', 'BAD x'])]],
    ['a message', [messageItem(['it is']), callItem('{}'), messageItem(['BAD x'], 'msg_2')]],
    ['a long message', [messageItem(['it is']), messageItem([`BAD ${'x '.repeat(2_000)}`], 'msg_2')]],
  ];
  test.each(glued)('a forbidden word at the beginning of %s is not sent, even if a letter precedes it', (_, items) => {
    const result = run(streamed(responseEvents(items, (whole) => [...whole])), deniesMatch(/\bBAD\b/));
    expect(result.end).toEqual(denied);
    expect(textOf(result.emitted)).toBe('it is');
  });

  test('a stream is denied exactly where one of its texts, or the place where two of them are joined, is denied', () => {
    const words = fc.array(fc.constantFrom('BAD', 'BA', 'D', 'a', ' ', '_', 'é', '😀'), { maxLength: 6 });
    const parts = fc.array(
      words.map((some) => some.join('')),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(parts, fc.nat(4), cuts, fc.boolean(), (texts, split, inText, isWhole) => {
        const items = [messageItem(texts.slice(0, split)), callItem('{}'), messageItem(texts.slice(split), 'msg_2')];
        const pattern = /(?<![\p{L}_])BAD(?![\p{L}_])/u;
        const named = texts.map((one, at) => ({ path: `0.${at}.text`, text: one }));
        const isDenied = [...texts, ...seamsOf(named).map(({ content }) => content)].some((one) => pattern.test(one));
        const events = responseEvents(items, (whole) => (isWhole ? [] : cutAt(whole, inText)));
        const { end } = run(streamed(events), deniesMatch(pattern));
        expect(end).toEqual(isDenied ? denied : { kind: 'finished' });
      }),
      { numRuns: 500 },
    );
  });

  test('a text and the place where it is joined are judged in one check, or in two where a check has one message', () => {
    const items = [messageItem(['one', 'two'])];
    const checksOf = (maxMessages: number): readonly (readonly string[])[] => {
      const checks = new Set<readonly string[]>();
      const guard = new ResponseGuard(
        { judged: new Set(), refuseUnjudged: false, limits: { ...checkLimits, maxMessages } },
        (frame) => frame,
      );
      const { end } = runMachine(guard, streamed(responseEvents(items)), (_, texts) => {
        checks.add(texts);
        return { kind: 'pass' };
      });
      expect(end).toEqual({ kind: 'finished' });
      return [...checks];
    };
    expect(checksOf(2)).toEqual([['one'], ['onetwo', 'two']]);
    expect(checksOf(1)).toEqual([['one'], ['onetwo'], ['two']]);
  });

  const begun: readonly (readonly [string, Events])[] = [
    ['a new part', [{ type: 'response.content_part.added', part: part('my bo') }]],
    ['a new item', [{ type: 'response.output_item.added', item: messageItem(['my bo']) }]],
    [
      'a new part and its item',
      [
        { type: 'response.output_item.added', item: messageItem(['my bo']) },
        { type: 'response.content_part.added', part: part('my bo') },
      ],
    ],
    ['the first event', [{ type: 'response.created', response: responseBody([messageItem(['my bo'])]) }]],
  ];
  test.each(begun)('the text of %s is the beginning of the text that grows there', (_, events) => {
    const rest = [
      { type: 'response.output_text.delta', delta: 'mb' },
      { type: 'response.output_text.done', text: 'my bomb' },
      { type: 'response.completed', response: responseBody([messageItem(['my bomb'])]) },
    ];
    expect(run(streamed([...events, ...rest]), denies('bomb'))).toMatchObject({ end: denied, emitted: '' });
    const passed = run(streamed([...events, ...rest]));
    expect(passed).toMatchObject({ end: { kind: 'finished' }, windows: ['my bomb'] });
    expect(passed.emitted).toBe(responseStream([...events, ...rest]));
  });

  test('a new text in the place of a text that has begun ends the stream, and the same text does not end it', () => {
    const added = (content: string) => ({ type: 'response.content_part.added', part: part(content) });
    const delta = { type: 'response.output_text.delta', delta: 'bo' };
    const completed = { type: 'response.completed', response: responseBody([messageItem(['bo'])]) };
    expect(run(streamed([delta, added('b'), completed])).end).toMatchObject({ stop: { fault: 'invalid' } });
    expect(run(streamed([delta, added('bo'), completed])).end).toEqual({ kind: 'finished' });
    expect(run(streamed([delta, added(''), completed])).end).toEqual({ kind: 'finished' });
  });

  test('texts that arrive only as a whole are judged once, and together with the text before them', () => {
    const items = [messageItem(['it is B']), callItem('{}'), messageItem(['AD here'], 'msg_2')];
    const stream = streamed(responseEvents(items, () => []));
    const result = run(stream, denies('BAD'));
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('AD here');
    expect(sentEvents(result.emitted).at(-1)).toMatchObject({ type: 'response.content_part.added', output_index: 2 });
    expect(run(stream).windows).toEqual(['it is B', 'it is BAD here', 'AD here']);
  });

  test('texts that arrive out of order are joined at the end of the response', () => {
    const delta = (output_index: number, piece: string) => ({
      type: 'response.output_text.delta',
      output_index,
      delta: piece,
    });
    const completed = { type: 'response.completed', response: responseBody([messageItem(['B']), messageItem(['AD'])]) };
    const stream = [delta(1, 'AD'), delta(0, 'B'), completed];
    const result = run(streamed(stream), denies('BAD'));
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('response.completed');
    expect(run(streamed(stream)).end).toEqual({ kind: 'finished' });
  });

  test.each(places)('text in %s that no delta had is judged before it is sent', (_, change) => {
    const events = responseEvents([messageItem(['fine'])]);
    const result = run(streamed(change(events)), denies('BAD'));
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('BAD');
    expect(run(streamed(change(events))).end).toEqual({ kind: 'finished' });
  });

  const faults: readonly (readonly [string, string, string])[] = [
    ['an error event', event({ type: 'error', message: 'secret', code: 'x' }), 'failed'],
    [
      'a failed response',
      event({ type: 'response.failed', response: responseBody([], { error: { message: 's' } }) }),
      'failed',
    ],
    ['an event with an error', event({ type: 'response.created', error: { message: 's' } }), 'failed'],
    ['audio', event({ type: 'response.audio.delta', delta: 'AAAA' }), 'invalid'],
    ['text that is no string', event({ type: 'response.output_text.delta', output_index: 0, delta: ['x'] }), 'invalid'],
    [
      'a position that is no number',
      event({ type: 'response.output_text.delta', output_index: 'x', delta: 'x' }),
      'invalid',
    ],
    [
      'a part of an unknown type',
      event({ type: 'response.content_part.added', part: { type: 'output_audio' } }),
      'invalid',
    ],
    ['a key in other letters', event({ type: 'response.output_text.delta', delta: 'x', Delta: 'y' }), 'invalid'],
    ['an event without a type', event({ delta: 'x' }), 'invalid'],
    ['another name than type', 'event: response.done\ndata: {"type":"response.created"}\n\n', 'invalid'],
    ['a repeated key', 'data: {"type":"response.x","type":"response.y"}\n\n', 'invalid'],
    ['the end of a chat stream', 'data: [DONE]\n\n', 'invalid'],
    ['an end without the last event', '', 'broken'],
  ];
  test.each(faults)('a streamed response with %s ends with this fault and without the text', (_, bytes, fault) => {
    const result = run([Buffer.from(bytes)]);
    expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault } });
    expect(result.emitted).toBe('');
  });

  test('text after the end of a text, and an event or held events over the bounds end the stream', () => {
    const done = event({ type: 'response.output_text.done', output_index: 0, text: '' });
    const delta = (text: string) => event({ type: 'response.output_text.delta', output_index: 0, delta: text });
    const ended = run([Buffer.from(delta('x') + done + delta('y'))]);
    expect(ended.end).toMatchObject({ stop: { fault: 'invalid' } });
    const large = (bytes: number) => [Buffer.from(event({ type: 'response.x', id: 'x'.repeat(bytes) }))];
    expect(run(large(responseStreamBounds.eventBytes)).end).toMatchObject({ stop: { fault: 'event_too_large' } });
    expect(run(large(responseStreamBounds.eventBytes - 100)).end).toMatchObject({ stop: { fault: 'broken' } });
    const padded = event({ type: 'response.in_progress', response: responseBody([], { id: 'x'.repeat(1_000_000) }) });
    expect(run([Buffer.from(delta('x') + padded.repeat(8))]).end).toMatchObject({ stop: { fault: 'broken' } });
    expect(run([Buffer.from(delta('x') + padded.repeat(9))]).end).toMatchObject({ stop: { fault: 'held_too_much' } });
  });
});

describe('further texts of a streamed response', () => {
  const hidden = '{"q":"\\u0042AD"}';
  const cases: readonly (readonly [JudgedTextKind, Events])[] = [
    ['toolCalls', responseEvents([callItem(hidden)], (whole) => [...whole])],
    ['names', responseEvents([callItem('', 'BAD name')])],
    ['reasoning', responseEvents([reasoningItem('some BAD thought')], (whole) => [...whole])],
    [
      'parameters',
      responseEvents([{ ...messageItem(['fine']), content: [{ ...part('fine'), annotations: [{ url: 'BAD' }] }] }]),
    ],
    [
      'toolCalls',
      [
        ...responseEvents([]).slice(0, 2),
        { type: 'response.code_interpreter_call_code.delta', delta: 'BAD' },
        ...responseEvents([]).slice(2),
      ],
    ],
  ];

  test.each(cases)('%s are judged if the binding asks for it, and no byte of a denied text is sent', (kind, events) => {
    const result = run(streamed(events), denies('BAD'), { judged: judgedTextKinds });
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toMatch(/BAD|042A/);
    const others = judgedTextKinds.filter((other) => other !== kind);
    expect(run(streamed(events), denies('BAD'), { judged: others }).end).toEqual({ kind: 'finished' });
    const refused = run(streamed(events), denies('BAD'), { judged: others, refuseUnjudged: true });
    expect(refused.end).toMatchObject({ stop: { fault: 'unjudged' } });
    const passed = run(streamed(events), undefined, { judged: [kind], refuseUnjudged: true });
    expect(passed.end).toEqual({ kind: 'finished' });
    expect(passed.emitted).toBe(responseStream(events));
  });

  test('a text whose events have empty lists of log probabilities and annotations needs no check but its windows', () => {
    const long = 'word '.repeat(500);
    const stream = streamed(responseEvents([messageItem([long])], (whole) => [...whole]));
    const { windows } = run(stream, undefined, { judged: judgedTextKinds });
    expect(windows).toEqual(run(stream).windows);
    expect(windows).toHaveLength(3);
  });

  test('log probabilities that are not empty are judged before their event is sent', () => {
    const events = responseEvents([messageItem(['fine'])]);
    const stream = streamed(replace(events, 'response.output_text.delta', { logprobs: [{ token: 'BAD' }] }));
    const result = run(stream, denies('BAD'), { judged: ['parameters'] });
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('BAD');
  });

  test('a string of a call is judged whole up to the limit of one check, and in windows above it', () => {
    const around = checksSize([{ role: 'assistant', content: '' }], 'response').bytes;
    const longest = checkLimits.maxBodyBytes - around;
    const windowsFor = (length: number): readonly number[] => {
      const call = {
        type: 'response.function_call_arguments.done',
        arguments: JSON.stringify({ q: 'x'.repeat(length) }),
      };
      const stream = streamed([call, { type: 'response.completed', response: responseBody([]) }]);
      const { windows, end } = run(stream, undefined, { judged: ['toolCalls'] });
      expect(end).toEqual({ kind: 'finished' });
      return windows.filter((one) => one.startsWith('x')).map((one) => one.length);
    };
    expect(windowsFor(longest)).toEqual([longest]);
    const cut = windowsFor(longest + 1);
    expect(Math.max(...cut)).toBe(1_280);
    expect(cut.reduce((sum, one) => sum + one - 256, 256)).toBe(longest + 1);
  });

  test('pieces of a call are added to the input with which its item begins', () => {
    const events = [
      { type: 'response.output_item.added', item: callItem('{"q":"bo') },
      { type: 'response.function_call_arguments.delta', delta: 'mb"}' },
      { type: 'response.completed', response: responseBody([]) },
    ];
    expect(run(streamed(events), denies('bomb'), { judged: ['toolCalls'] })).toMatchObject({
      end: denied,
      emitted: '',
    });
    expect(run(streamed(events), undefined, { judged: ['toolCalls'] }).emitted).toBe(responseStream(events));
  });

  test('judged reasoning is sent when it is complete, before the text of the answer', () => {
    const events = responseEvents([reasoningItem('a thought'), messageItem(['fine'])]);
    const upTo = events.findIndex(({ type }) => type === 'response.reasoning_summary_text.done');
    const { beforeEnd } = run(streamed(events.slice(0, upTo + 1)), undefined, { judged: ['reasoning'] });
    expect(sentEvents(beforeEnd)).toHaveLength(upTo + 1);
  });

  test('no piece of a phrase that is split over pieces of the code of a tool is sent', () => {
    const code = [...'run BAD'].map((delta) => ({ type: 'response.code_interpreter_call_code.delta', delta }));
    const all = [...code, { type: 'response.code_interpreter_call_code.done', code: 'run BAD' }];
    const events = [...responseEvents([]).slice(0, 2), ...all, ...responseEvents([]).slice(2)];
    const result = run(streamed(events), denies('BAD'), { judged: ['toolCalls'] });
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('code_interpreter');
    expect(run(streamed(events), undefined, { judged: ['toolCalls'] }).emitted).toBe(responseStream(events));
  });

  test('the pieces of a call are judged if its end has other arguments', () => {
    const events = responseEvents([callItem('{"q":"BAD"}')]).map((one) =>
      one['type'] === 'response.function_call_arguments.delta' || one['type'] === 'response.in_progress'
        ? one
        : (JSON.parse(JSON.stringify(one).replaceAll('BAD', 'fine')) as Events[number]),
    );
    const result = run(streamed(events), denies('BAD'), { judged: ['toolCalls'] });
    expect(result.end).toEqual(denied);
    expect(result.emitted).not.toContain('BAD');
  });

  test('the pieces of a call without an end are judged at the end of the stream', () => {
    const all = responseEvents([callItem('{"q":"BAD"}')]);
    const events = [
      ...all.filter(({ type }) => String(type).endsWith('.delta')),
      { type: 'response.completed', response: responseBody([]) },
    ];
    expect(run(streamed(events), denies('BAD'), { judged: ['toolCalls'] }).end).toEqual(denied);
    expect(run(streamed(events), undefined, { judged: ['toolCalls'] }).emitted).toBe(responseStream(events));
  });
});

function replace(events: Events, type: string, change: Events[number]): Events {
  return events.map((one) => (one['type'] === type ? { ...one, ...change } : one));
}

function part(content: string) {
  return { type: 'output_text', text: content, annotations: [] };
}

function event(value: Events[number]): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function withoutHalf(value: string): string {
  return value.isWellFormed() ? value : value.slice(0, -1);
}
