import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchMessages, checksSize } from '#checks/batch-messages';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { denies, deniesMatch, runGuard } from '../testing/run-guard.ts';
import type { WindowVerdict } from './stepped-guard.ts';
import type { StreamCoverage } from './stream-guard.ts';

const limits = { maxMessages: 32, maxBodyBytes: 32_768 };
const judging = (...judged: readonly JudgedTextKind[]): StreamCoverage => ({
  judged: new Set(judged),
  refuseUnjudged: false,
  limits,
});
const all = judging(...judgedTextKinds);

const frame = (delta: object, rest: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`;
const choiceWith = (rest: object) => ({ choices: [{ index: 0, delta: {}, ...rest }] });
const finish = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`;
const done = 'data: [DONE]\n\n';
const callFrame = (text: string, index = 0) => frame({ tool_calls: [{ index, function: { arguments: text } }] });

function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((one, other) => one - other);
  return [0, ...places].map((start, at) => text.slice(start, places[at] ?? text.length)).filter((one) => one !== '');
}

/** Judges as the check client does: a check over the limits of a bundle fails. */
function withinLimits(phrase = '\u0000'): (window: string, texts: readonly string[]) => WindowVerdict {
  return (window, texts) => {
    const messages = texts.map((content) => ({ role: 'assistant', content }));
    if (batchMessages(messages, limits, 'response').length > 1) return { kind: 'failed', code: 'message_limit' };
    if (checksSize(messages, 'response').bytes > limits.maxBodyBytes) return { kind: 'failed', code: 'body_too_large' };
    return denies(phrase)(window);
  };
}

type Judge = Parameters<typeof runGuard>[1];
const run = (
  frames: readonly string[],
  judge: Judge = denies('secret phrase'),
  coverage: StreamCoverage | undefined = all,
) => runGuard([Buffer.from(frames.join(''))], judge, coverage);

describe('tool calls in a stream', () => {
  const args = JSON.stringify({ q: 'a harmless text', n: 4 });

  test.each(['toolCalls', 'names'] as const)('a stream with judged %s arrives completely, each frame once', (kind) => {
    const named = frame({ tool_calls: [{ index: 0, id: 'c', function: { name: 'search it', arguments: '' } }] });
    const frames = [frame({ content: 'let me see' }), named, callFrame(args.slice(0, 7)), callFrame(args.slice(7))];
    const { emitted, windows, end } = run([...frames, finish, done], undefined, judging(kind));
    expect(end).toEqual({ kind: 'finished' });
    expect(emitted).toBe([...frames, finish, done].join(''));
    expect(windows).toContain(kind === 'names' ? 'search it' : 'a harmless text');
  });

  test('no frame of a call is sent when any call of the stream is denied, however the arguments are split', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (cuts, escaped) => {
        const phrase = escaped ? 's\\u0065cret phrase' : 'secret phrase';
        const denied = pieces(`{"q": "the ${phrase} is"}`, cuts).map((piece) => callFrame(piece, 1));
        const { emitted, end } = run([callFrame(args), ...denied, finish, done]);
        expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
        expect(emitted).not.toContain('tool_calls');
      }),
    );
  });

  test('text before a denied tool call is sent only after it passed a check, and nothing after the call is sent', () => {
    const content = 'x'.repeat(3_000);
    const { emitted, end } = run([frame({ content }), callFrame('"secret phrase"'), frame({ content: 'tail' }), done]);
    expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(emitted).not.toContain('secret');
    expect(emitted).not.toContain('tail');
  });

  test('a call of 1 MiB in pieces of 26 bytes passes after a preamble, and one of 4 MiB is too large to hold', () => {
    const text = JSON.stringify({ q: 'x'.repeat(1_048_576) });
    const frames = (size: number) =>
      Array.from({ length: Math.ceil(size / 26) }, (_, at) => callFrame(text.slice(at * 26, at * 26 + 26)));
    const preamble = frame({ content: 'I will look that up.' });
    const whole = run([preamble, ...frames(text.length), finish, done], withinLimits());
    expect(whole.end).toEqual({ kind: 'finished' });
    const tooMany = Array.from({ length: 4 }, () => frames(text.length)).flat();
    expect(run([preamble, ...tooMany, done]).end).toEqual({
      kind: 'stopped',
      stop: { kind: 'upstream', fault: 'held_too_much' },
    });
  });

  test('a string of arguments is judged whole up to the limit of one check, and in windows above it', () => {
    const around = checksSize([{ role: 'assistant', content: '' }], 'response').bytes;
    const longest = limits.maxBodyBytes - around;
    const windowsFor = (length: number) => {
      const { windows, end } = run([callFrame(`{"q":"${'x'.repeat(length)}"}`), finish, done], withinLimits());
      expect(end).toEqual({ kind: 'finished' });
      return windows.filter((text) => text.startsWith('x')).map((text) => text.length);
    };
    expect(windowsFor(longest)).toEqual([longest]);
    const cut = windowsFor(longest + 1);
    expect(Math.max(...cut)).toBe(1_280);
    expect(cut.reduce((sum, one) => sum + one - 256, 256)).toBe(longest + 1);
  });

  test('a phrase anywhere in a string of 40 KiB denies the call, and no check exceeds the limits', () => {
    fc.assert(
      fc.property(fc.nat(40_960), fc.boolean(), (before, isJson) => {
        const phrase = isJson ? 's\\u0065cret phrase' : 'secret phrase';
        const text = `${'x '.repeat(before / 2)}${phrase}${' y'.repeat((40_960 - before) / 2)}`;
        const args = isJson ? `{"content":"${text}"}` : text;
        const { emitted, end } = run([callFrame(args), finish, done], withinLimits('secret phrase'));
        expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
        expect(emitted).toBe('');
      }),
      { numRuns: 30 },
    );
  });

  test('calls that are not judged are forwarded unread, as the contract requires', () => {
    const { end } = run([callFrame('secret phrase'), finish, done], undefined, judging('reasoning'));
    expect(end).toEqual({ kind: 'finished' });
  });

  test('the calls of older clients and calls of custom tools are judged', () => {
    for (const delta of [
      { function_call: { name: 'f', arguments: '"secret phrase"' } },
      { tool_calls: [{ index: 0, type: 'custom', custom: { name: 'f', input: 'secret phrase' } }] },
      { tool_calls: [{ index: 0, extra: { text: 'secret phrase' } }] },
      { tool_calls: ['secret phrase'] },
    ]) {
      expect(run([frame(delta), finish, done]).end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    }
  });
});

describe('further texts in a stream', () => {
  const phrase = 'secret phrase';
  const shapes = {
    reasoning_content: (text: string) => frame({ reasoning_content: text }),
    reasoning: (text: string) => frame({ reasoning: text }),
    reasoning_details: (text: string) => frame({ reasoning_details: [{ type: 'text', text }] }),
    'a member of the provider': (text: string) => frame({ thoughts: { inner: [text] } }),
    'log probabilities': (text: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, logprobs: { content: [{ token: text }] } }] })}\n\n`,
    'a member of the root': (text: string) => frame({}, { note: text }),
  } as const;

  test.each(Object.entries(shapes))('no byte of a denied phrase in %s is sent, wherever it is split', (_, shape) => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.array(fc.nat(), { minLength: 1, maxLength: 20 }), (before, cuts) => {
        const text = `${'x '.repeat(before)}${phrase}${' y'.repeat(600)}`;
        const { emitted, end } = run([...pieces(text, cuts).map(shape), finish, done]);
        expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
        expect(emitted).not.toContain(' y');
        const left = emitted.match(/(?:x )+|[a-z ]+(?=")/g)?.join('') ?? '';
        for (let at = 1; at <= phrase.length; at++) expect(left.endsWith(` ${phrase.slice(0, at)}`)).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  test('reasoning and content each keep their order, and all frames arrive', () => {
    const frames = Array.from({ length: 40 }, (_, at) =>
      at % 2 === 0
        ? frame({ reasoning_content: `thought ${at} `.repeat(20) })
        : frame({ content: `word ${at} `.repeat(20) }),
    );
    const { emitted, end } = run([...frames, finish, done]);
    expect(end).toEqual({ kind: 'finished' });
    expect(emitted).toBe([...frames, finish, done].join(''));
  });

  /** The texts of each check of a stream of content, reasoning and a third text, which ends within their first windows. */
  function checksOf(limits: StreamCoverage['limits']): readonly (readonly string[])[] {
    const frames = [
      frame({ content: 'an answer' }),
      frame({ reasoning_content: 'a thought' }),
      frame({ refusal: 'a no' }),
    ];
    const checks = new Set<readonly string[]>();
    const note: Judge = (_, texts) => {
      checks.add(texts);
      return { kind: 'pass' };
    };
    const { emitted, end } = run([...frames, finish, done], note, { ...all, limits });
    expect([end.kind, emitted]).toEqual(['finished', [...frames, finish, done].join('')]);
    return [...checks];
  }

  test('windows of several texts that are complete at the same time are one check, as far as its limits allow', () => {
    const texts = ['an answer', 'a no', 'a thought'];
    expect(checksOf({ ...limits, maxMessages: 3 })).toEqual([texts]);
    expect(checksOf({ ...limits, maxMessages: 2 })).toEqual([texts.slice(0, 2), texts.slice(2)]);
    const { bytes } = checksSize(
      texts.map((content) => ({ role: 'assistant', content })),
      'response',
    );
    expect(checksOf({ ...limits, maxBodyBytes: bytes })).toEqual([texts]);
    expect(checksOf({ ...limits, maxBodyBytes: bytes - 1 })).toEqual([texts.slice(0, 2), texts.slice(2)]);
  });

  const card = deniesMatch(/\b4111\b/);
  const source = (title: string) => ({ type: 'url_citation', url_citation: { title } });

  test.each([
    ['two sources of one frame', [frame({ annotations: [source('Visa'), source('4111 1111')] })]],
    [
      'the source of a later frame',
      [frame({ annotations: [source('Visa')] }), frame({ annotations: [source('4111')] })],
    ],
    [
      'an item of one index in a later frame',
      [frame({ annotations: [{ index: 0, title: 'Visa' }] }), frame({ annotations: [{ index: 0, title: '4111' }] })],
    ],
    ['a part in a later frame', ['Visa', '4111'].map((title) => frame({ content: [{ type: 'reference', title }] }))],
    [
      'the input of a second call that is an object',
      ['Visa', '4111'].map((to, index) => frame({ tool_calls: [{ index, function: { arguments: { to } } }] })),
    ],
    [
      'the input of a call that comes in two objects',
      ['Visa', '4111'].map((to) => frame({ function_call: { arguments: { to } } })),
    ],
    ['members of two calls', ['Visa', '4111'].map((note, index) => frame({ tool_calls: [{ index, note }] }))],
    ['two strings of a member of the provider', [frame({ thoughts: { inner: ['Visa', '4111'] } })]],
    ['two parts of a reasoning', [frame({ reasoning_details: [{ text: 'Visa' }, { text: '4111' }] })]],
    [
      'two thoughts of a part',
      [frame({ content: [{ type: 'thinking', thinking: [{ text: 'Visa' }, { text: '4111' }] }] })],
    ],
    ['a member of the delta in a later frame', ['Visa', '4111'].map((status) => frame({ status }))],
    ['an object of the delta in a later frame', ['Visa', '4111'].map((title) => frame({ annotation: { title } }))],
    ['a member of the root in a later frame', ['Visa', '4111'].map((stage) => frame({}, { stage }))],
    [
      'a member of the choice in a later frame',
      ['Visa', '4111'].map((stage) => frame({}, { choices: [{ index: 0, delta: {}, stage }] })),
    ],
    ['a member in front of another string', ['4111', 'found'].map((status) => frame({ status }))],
    [
      'a long member in front of another string',
      [`${'x '.repeat(2_000)}4111`, 'found'].map((status) => frame({ status })),
    ],
    ['two log probabilities', [frame({}, { logprobs: [{ token: 'Visa' }, { token: '4111' }] })]],
  ])(
    'a forbidden word that begins one of %s is found, although clients may read another string before it',
    (_, frames) => {
      const { emitted, end } = run([...frames, finish, done], card);
      expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
      expect(emitted).not.toContain('4111');
      expect(run([...frames, finish, done]).end).toEqual({ kind: 'finished' });
    },
  );

  test.each<[string, readonly string[], readonly string[]]>([
    ['a term that begins with punctuation', ['Visa', '/etc/passwd'], ['/etc/passwd']],
    ['a term that ends with punctuation', ['bomb!', 'x'], ['bomb!']],
    ['a string behind a character that is not shown', ['Visa\u200b', '4111'], ['4111']],
    ['a string behind another such character', ['Visa\ufeff', '4111'], ['4111']],
    ['a string in front of such a character', ['4111', '\ufeffx'], ['4111']],
  ])('a string of a delta that clients may read alone is judged alone: %s', (_, texts, alone) => {
    const frames = [...texts.map((status) => frame({ status })), finish, done];
    const { windows, end } = run(frames);
    expect(end).toEqual({ kind: 'finished' });
    expect(windows).toEqual(expect.arrayContaining([...alone, texts.join('')]));
    const whole: Judge = (one) => ({ kind: alone.includes(one) ? 'deny' : 'pass' });
    expect(run(frames, whole).end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    for (const one of alone) expect(run(frames, whole).emitted).not.toContain(one);
  });

  test.each([' ', '\n', '\u00a0'])(
    'a string of a delta that follows or precedes white space is judged only in its text',
    (space) => {
      const frames = [`one${space}`, 'two', `${space}three`].map((status) => frame({ status }));
      const { windows, end } = run([...frames, finish, done]);
      expect(end).toEqual({ kind: 'finished' });
      expect(windows).toEqual(['status', ['one', 'two', 'three'].join(space)]);
    },
  );

  test('a name of a call that frames repeat is judged joined and alone', () => {
    const named = (name: string) => frame({ tool_calls: [{ index: 0, function: { name, arguments: '' } }] });
    for (const names of [
      ['shell', 'shell'],
      ['shell', 'run'],
      ['run', 'shell'],
    ]) {
      const frames = [...names.map(named), finish, done];
      expect(run(frames, deniesMatch(/\bshell\b/))).toMatchObject({ emitted: '', end: { stop: { kind: 'denied' } } });
      expect(run(frames, denies(names.join('')))).toMatchObject({ emitted: '', end: { stop: { kind: 'denied' } } });
    }
    expect(run([named('shell_run'), finish, done], deniesMatch(/\bshell\b/)).end).toEqual({ kind: 'finished' });
  });

  test.each<[string, readonly string[]]>([
    ['the root and the delta', [frame({ note: 'bo' }, { note: 'x' }), frame({ note: 'mb' }, { note: 'x' })]],
    [
      'the choice and the delta',
      ['bo', 'mb'].map((note) => frame({}, { choices: [{ index: 0, delta: { note }, note: 'x' }] })),
    ],
    ['a member with the name of the keys', ['bo', 'mb'].map((keys) => frame({ keys, note: 1 }))],
    ['a member with the name of a path', ['bo', 'mb'].map((b) => frame({ 'a.b': 'x', a: { b } }))],
    ['a member with the name of a text of numbers', ['bo', 'mb'].map((text) => frame({ 'a numbers': text, a: 5 }))],
    [
      'a member named as a part',
      ['bo', 'mb'].map((note) => frame({ 'content.note': note, content: [{ type: 'reference', note: 'x' }] })),
    ],
    [
      'calls of two places',
      ['{"q":"bo', 'mb"}'].map((text) => {
        const calls = (args: string) => [{ index: 0, function: { arguments: args } }];
        return frame({ tool_calls: calls(text) }, { tool_calls: calls('x') });
      }),
    ],
  ])('texts of one name at two places are two texts: %s', (_, frames) => {
    const { emitted, end } = run([...frames, finish, done], denies('bomb'));
    expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(emitted).not.toContain('mb');
  });

  describe('values that frames repeat', () => {
    const filter = (result: string) => ({
      content_filter_results: Object.fromEntries(
        ['hate', 'self_harm', 'sexual', 'violence'].map((name) => [name, { filtered: false, severity: result }]),
      ),
    });
    const repeating = (content: string, value = 'x'): string =>
      frame(
        {},
        { provider: value, choices: [{ index: 0, delta: { content, note: null }, logprobs: null, ...filter('safe') }] },
      );

    test('500 frames that repeat members of the provider take a few windows more than their content, and are sent as early as the content', () => {
      const frames = Array.from({ length: 500 }, () => repeating('word '));
      const plain = run(
        [...Array.from({ length: 500 }, () => frame({ content: 'word ' })), finish, done],
        undefined,
        judging(),
      );
      const { emitted, windows, end } = run([...frames, finish, done], withinLimits());
      expect(end).toEqual({ kind: 'finished' });
      expect(emitted).toBe([...frames, finish, done].join(''));
      const texts = windows.filter((one) => !one.includes('word '));
      // The keys of two forms of frames, the two values alone, and the five texts of values in each check of the content.
      expect(texts.length).toBeLessThanOrEqual(4 + 5 * 3);
      expect(windows.length - texts.length).toBe(plain.windows.length);
      const sent = (text: string) => text.split('word ').length;
      expect(sent(run(frames).beforeEnd)).toBe(1 + Math.floor((1_020 + 1_020 - 255) / 5));
    });

    test('after 512 bytes of a repeated value no further window contains it', () => {
      const frames = (count: number) => [
        ...Array.from({ length: count }, () => repeating('', 'a longer value')),
        finish,
        done,
      ];
      const bytes = (count: number) => run(frames(count)).windows.reduce((sum, one) => sum + one.length, 0);
      expect(bytes(2_000)).toBe(bytes(512));
      expect(bytes(512)).toBeGreaterThan(bytes(20));
    });

    test('a phrase anywhere in strings of the root that clients join is found, however often a value is repeated', () => {
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.constantFrom('a', 'b', 'ab', 'bba', 'a'.repeat(300)), fc.nat(600)), {
            minLength: 1,
            maxLength: 6,
          }),
          fc.nat(),
          fc.integer({ min: 1, max: 256 }),
          fc.boolean(),
          (runs, at, length, isSteady) => {
            const values = runs.flatMap(([value, count]) =>
              Array.from({ length: isSteady ? count + 1 : 1 }, () => value),
            );
            const joined = values.join('');
            const start = at % joined.length;
            const phrase = joined.slice(start, start + length);
            const frames = values.map((note, place) => frame({ content: `word ${place} ` }, { note }));
            const { emitted, end } = run([...frames, finish, done], denies(phrase));
            expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
            const left = [...emitted.matchAll(/"note":"([ab]*)"/g)].map(([, note]) => note).join('');
            expect(left).not.toContain(phrase);
          },
        ),
        { numRuns: 60 },
      );
    });

    test('a value that occurs twice is sent when it has passed, and a value that occurs once waits for the end', () => {
      const content = 'word '.repeat(206);
      const first = frame({}, { note: 'a value' });
      const twice = run([first, first, frame({ content })]);
      expect(twice.beforeEnd).toBe(first + first);
      expect(run([first, frame({ content })]).beforeEnd).toBe('');
      const once = run([first, frame({ content }), finish, done]);
      expect(once.emitted).toBe([first, frame({ content }), finish, done].join(''));
    });

    test('frames without text that follow a value are sent when 32 KiB of frames have arrived, and not before', () => {
      const frames = (count: number) => [
        ...Array.from({ length: count }, () =>
          frame({ reasoning_content: 'x'.repeat(1_000) }, { provider: 'a value' }),
        ),
      ];
      const size = Buffer.byteLength(frames(1).join(''));
      const data = size - 'data: \n\n'.length;
      const most = Math.floor(32_768 / data);
      expect(run(frames(most), undefined, judging('parameters')).beforeEnd).toBe('');
      const { beforeEnd, windows } = run(frames(most + 1), undefined, judging('parameters'));
      expect(beforeEnd).toBe(frames(most + 1).join(''));
      expect(windows).toHaveLength(3);
    });

    test('keys of frames are judged once for each form of a frame, before the frame leaves', () => {
      const frames = Array.from({ length: 20 }, () => frame({ content: 'word ' }, { 'bad key': null, other: {} }));
      const { windows, end } = run([...frames, finish, done]);
      expect(end).toEqual({ kind: 'finished' });
      expect(windows.filter((one) => one.includes('bad key'))).toEqual(['bad key other']);
      const denied = run([...frames, finish, done], denies('bad key'));
      expect([denied.end, denied.emitted]).toEqual([{ kind: 'stopped', stop: { kind: 'denied' } }, '']);
    });
  });

  test('JSON in an input of a call that is an object is judged without its escapes, as in a whole answer', () => {
    const inputs = ['{"a":"bad\\u0077ord"}', '{"b":"{\\"c\\":\\"bad\\\\u0077ord\\"}"}'];
    for (const q of inputs) {
      const frames = [frame({ tool_calls: [{ index: 0, function: { arguments: { q } } }] }), finish, done];
      expect(run(frames, denies('badword'))).toMatchObject({ emitted: '', end: { stop: { kind: 'denied' } } });
      expect(run(frames, denies('goodword')).end).toEqual({ kind: 'finished' });
    }
  });

  test('a member of calls other than their input is not judged in pieces alone', () => {
    const frames = ['cl', 'ass'].map((note) => frame({ tool_calls: [{ index: 0, note }] }));
    const { windows, end } = run([...frames, finish, done]);
    expect(end).toEqual({ kind: 'finished' });
    expect(windows).toContain('class');
    expect(windows).not.toContain('ass');
  });

  test('log probabilities with 20 tokens for each one need few checks', () => {
    const token = (at: number, other: number) => ({ token: `t${at}x${other}` });
    const frames = Array.from({ length: 250 }, (_, at) => {
      const logprobs = {
        content: [{ ...token(at, 20), top_logprobs: Array.from({ length: 20 }, (_, one) => token(at, one)) }],
      };
      return frame({ content: 'word' }, { choices: [{ index: 0, delta: { content: 'word' }, logprobs }] });
    });
    const bytes = 250 * 21 * 'word '.length;
    const { windows, end } = run([...frames, finish, done]);
    expect(end).toEqual({ kind: 'finished' });
    expect(windows.length).toBeLessThan((4 * bytes) / 960);
  });

  test('alternating items are distinguished by their index', () => {
    const item = (index: number, text: string) => frame({ reasoning_details: [{ type: 'text', text, index }] });
    const frames = [item(0, 'bo'), item(1, 'x'), item(0, 'mb'), finish, done];
    expect(run(frames, denies('bomb'))).toMatchObject({
      end: { kind: 'stopped', stop: { kind: 'denied' } },
      emitted: '',
    });
    const { windows } = run(frames);
    expect(windows).toContain('bomb');
    expect(windows).toContain('x');
  });

  test('a list of sources that each frame repeats is judged once, in addition to its window', () => {
    const sources = ['https://a.example/one', 'https://b.example/two'];
    const frames = Array.from({ length: 20 }, () => frame({ content: 'word ' }, { citations: sources }));
    const { windows, end } = run([...frames, finish, done]);
    expect(end).toEqual({ kind: 'finished' });
    for (const one of sources) expect(windows.filter((text) => text === one)).toHaveLength(1);
  });

  test('half of a character at the end of a string of a list is judged, and the complete character is judged in the window', () => {
    const frames = [frame({ thoughts: ['4111 \ud83d'] }), frame({ thoughts: ['\ude00'] }), finish, done];
    expect(run([frame({ thoughts: ['Visa'] }), ...frames], card).end).toEqual({
      kind: 'stopped',
      stop: { kind: 'denied' },
    });
    const { windows, end } = run(frames);
    expect(end).toEqual({ kind: 'finished' });
    expect(windows).toContain('4111 😀');
    expect(windows.every((text) => text.isWellFormed())).toBe(true);
  });

  test('a string of a list is judged whole up to the limit of one check, and in windows above it', () => {
    const longest = limits.maxBodyBytes - checksSize([{ role: 'assistant', content: '' }], 'response').bytes;
    const windowsFor = (length: number) => {
      const { windows, end } = run([frame({ citations: ['x'.repeat(length)] }), finish, done], withinLimits());
      expect(end).toEqual({ kind: 'finished' });
      return windows.filter((text) => text.startsWith('x')).map((text) => text.length);
    };
    expect(Math.max(...windowsFor(longest))).toBe(longest);
    expect(Math.max(...windowsFor(longest + 1))).toBe(1_280);
  });

  test('a forbidden word at any place of a string of a list that is larger than a check is found alone', () => {
    fc.assert(
      fc.property(fc.nat(40_000), fc.boolean(), (before, isForbidden) => {
        const text = `${'x '.repeat(before / 2)}${isForbidden ? '' : 'v'}4111${' y'.repeat((40_000 - before) / 2)}`;
        // The word "Visa" is not detected as a word here, because it directly follows another string.
        const { emitted, end } = run(
          [frame({ thoughts: ['Visa'] }), frame({ thoughts: [text] }), finish, done],
          (one, texts) => (withinLimits()(one, texts).kind === 'failed' ? withinLimits()(one, texts) : card(one)),
        );
        expect(end).toEqual(isForbidden ? { kind: 'stopped', stop: { kind: 'denied' } } : { kind: 'finished' });
        if (isForbidden) expect(emitted).not.toContain('4111');
      }),
      { numRuns: 20, examples: [[0, true]] },
    );
  });

  test('a string larger than a check that each frame repeats is judged once', () => {
    const text = `${'x '.repeat(20_000)}end`;
    const frames = Array.from({ length: 4 }, () => frame({ content: 'word ' }, { citations: [text] }));
    const { windows, end } = run([...frames, finish, done], withinLimits());
    expect(end).toEqual({ kind: 'finished' });
    // The text is judged once alone, and four times in the text of the member.
    expect(windows.length).toBeLessThan((5.5 * text.length) / 960);
  });

  test('a frame may have as many strings as 1,024 checks have messages, and one string more ends the stream', () => {
    const strings = (count: number) => frame({}, { list: Array.from({ length: count }, (_, at) => `s${at}`) });
    // The name of the member counts as one text more.
    const most = 1_024 * limits.maxMessages - 1;
    expect(run([strings(most), done]).end).toEqual({ kind: 'finished' });
    expect(run([strings(most + 1), done]).end).toEqual({
      kind: 'stopped',
      stop: { kind: 'upstream', fault: 'held_too_much' },
    });
  });

  test('a stream with more further texts than may be judged is refused', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => frame({}, { [`note_${at}`]: 'a b' }));
    expect(run([...many(1_024), done]).end).toEqual({ kind: 'finished' });
    expect(run([...many(1_025), done]).end).toEqual({ kind: 'stopped', stop: { kind: 'upstream', fault: 'invalid' } });
  });
});

describe('a stream whose binding refuses text that is not judged', () => {
  const refusing = (...judged: readonly JudgedTextKind[]) => ({ ...judging(...judged), refuseUnjudged: true });
  const unjudged = { kind: 'stopped', stop: { kind: 'upstream', fault: 'unjudged' } };

  test.each([
    ['toolCalls', frame({ tool_calls: [{ index: 0, function: { arguments: '{"q":1}' } }] })],
    ['names', frame({ tool_calls: [{ index: 0, function: { name: 'Search It' } }] })],
    ['reasoning', frame({ reasoning_content: 'let me think' })],
    ['parameters', frame({ thoughts: 'let me think' })],
  ] as const)('a frame with text of kind %s stops the stream unless that kind is judged', (kind, text) => {
    const others = judgedTextKinds.filter((other) => other !== kind);
    expect(run([text, finish, done], undefined, refusing(...others)).end).toEqual(unjudged);
    expect(run([text, finish, done], undefined, refusing(kind, ...others)).end).toEqual({ kind: 'finished' });
  });

  const pieces = ['make', '_a', '_bomb', '_from', '_fertilizer'];

  test.each<[string, (text: string) => string]>([
    ['a reasoning', (text) => frame({ reasoning_content: text })],
    ['a member of the delta', (text) => frame({ thoughts: text })],
    ['a list of the delta', (text) => frame({ thoughts: [text] })],
    ['a name of a call', (text) => frame({ tool_calls: [{ index: 0, function: { name: text } }] })],
    ['a member of a call', (text) => frame({ tool_calls: [{ index: 0, note: text }] })],
    ['log probabilities', (text) => frame({}, choiceWith({ logprobs: { content: [{ token: text }] } }))],
  ])('a text in pieces of single words stops the stream: %s', (_, shape) => {
    const { emitted, end } = run([...pieces.map(shape), finish, done], undefined, refusing());
    expect(end).toEqual(unjudged);
    expect(emitted).not.toContain('fertilizer');
  });

  test('the first word of a reasoning does not leave, as in a whole answer', () => {
    expect(run([frame({ reasoning_content: 'make' }), finish, done], undefined, refusing())).toMatchObject({
      emitted: '',
      end: unjudged,
    });
  });

  test('a word that a client takes as a whole is a value of the API, and a repetition of it as well', () => {
    const frames = Array.from({ length: 40 }, () =>
      frame({ channel: 'analysis', tool_calls: [{ index: 0, function: { name: 'search' } }] }, { provider: 'azure' }),
    );
    const others = ['first', 'second', 'third', 'fourth', 'fifth'].map((stage) => frame({}, { stage }));
    expect(run([...frames, ...others, finish, done], undefined, refusing()).end).toEqual({ kind: 'finished' });
  });

  test.each<[string, number, boolean]>([
    ['of 24 letters', 24, true],
    ['of 25 letters', 25, false],
  ])('a word of a member of the delta %s in pieces of one letter', (_, length, passes) => {
    const frames = Array.from({ length }, (__, at) => frame({ stage: 'ab'.charAt(at % 2) }));
    const { end } = run([...frames, finish, done], undefined, refusing());
    expect(end).toEqual(passes ? { kind: 'finished' } : unjudged);
  });

  test('the result of a content filter in each frame is a value of the API, and a result with a text is not', () => {
    const filtered = (severity: string) =>
      frame(
        {},
        choiceWith({ content_filter_results: { hate: { filtered: false, severity }, self_harm: { severity } } }),
      );
    expect(run([filtered('safe'), filtered('safe'), finish, done], undefined, refusing()).end).toEqual({
      kind: 'finished',
    });
    expect(run([filtered('not safe'), finish, done], undefined, refusing()).end).toEqual(unjudged);
    const first = `data: {"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"severity":"safe"}}}]}\n\n`;
    const counted = Array.from({ length: 40 }, (_, at) => frame({ content: 'word ', progress: at }));
    expect(run([first, ...counted, finish, done], undefined, refusing()).end).toEqual({ kind: 'finished' });
  });

  test('a stream with `unjudged: Refuse` is not stopped by content, service members or usage', () => {
    const frames = [frame({ role: 'assistant', content: 'hi' }, { id: 'i', model: 'Some Model', usage: null }), finish];
    expect(run([...frames, done], undefined, refusing()).end).toEqual({ kind: 'finished' });
  });
});
