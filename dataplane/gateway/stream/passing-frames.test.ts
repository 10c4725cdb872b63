import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JudgedTextKind } from '#contracts/judged-texts';
import { cutAt } from '#kit/testing/cut-at';
import { denies, deniesMatch, runGuard } from '../testing/run-guard.ts';
import { dataEvent, eventsOf } from '../testing/stream-script.ts';

const judging = (...judged: readonly JudgedTextKind[]) => ({
  judged: new Set(judged),
  refuseUnjudged: false,
  limits: { maxMessages: 32, maxBodyBytes: 32_768 },
});

/** One frame; `created` is its number in the stream. */
type Frame = {
  readonly created?: number;
  readonly note?: string;
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason: string | null }[];
};
type Delta = {
  readonly role?: string;
  readonly content?: string | readonly Readonly<Record<string, unknown>>[];
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly { readonly index: number; readonly text: string }[];
  readonly tool_calls?: unknown;
};

const frame = (delta: Delta, finish_reason: string | null = null, more: object = {}): Frame => ({
  choices: [{ index: 0, delta, finish_reason } as Frame['choices'][number]],
  ...more,
});
const finish = frame({}, 'stop');
const done = dataEvent('[DONE]');
const write = (frames: readonly Frame[]): Buffer =>
  Buffer.from(frames.map((one) => dataEvent(JSON.stringify(one))).join(''));
const read = (emitted: string): readonly Frame[] =>
  eventsOf(emitted).flatMap((data) => (data === '[DONE]' ? [] : [JSON.parse(data) as Frame]));

/** The texts that a client collects from frames, by their members; a text in parts is a part of the content. */
function textsOf(frames: readonly Frame[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  const add = (member: string, text: string | undefined): void => {
    if (text !== undefined && text !== '') texts[member] = (texts[member] ?? '') + text;
  };
  for (const { note, choices } of frames) {
    add('note', note);
    const delta = choices[0]?.delta ?? {};
    const { content } = delta;
    if (typeof content === 'string') add('content', content);
    else
      for (const part of content ?? [])
        add('text' in part ? 'content' : 'thinking', String(part['text'] ?? part['thinking']));
    add('refusal', delta.refusal);
    add('reasoning', delta.reasoning_content);
    for (const { index, text } of delta.reasoning_details ?? []) add(`details ${index}`, text);
  }
  return texts;
}

const pieces = (text: string, size = 16): readonly string[] => text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
const many = (bytes: number): string => 'x'.repeat(bytes);

describe('text behind a text that stands still', () => {
  const thoughts = pieces(many(3_000)).map((reasoning_content) => frame({ reasoning_content }));
  const words = (bytes: number): readonly Frame[] => pieces(many(bytes)).map((content) => frame({ content }));
  const run = (frames: readonly Frame[], ...judged: readonly JudgedTextKind[]) =>
    runGuard([write(frames)], undefined, judging(...judged));

  test('an answer is sent while it is generated, although its reasoning has ended and has a tail that is held', () => {
    const { beforeEnd, windows } = run([...thoughts, ...words(8_192)], 'reasoning');
    const { content = '', reasoning = '' } = textsOf(read(beforeEnd));
    // Seven windows of 1,024 bytes are complete; their last 255 bytes, and the last 255 of the reasoning, are held.
    expect(content).toHaveLength(6_912);
    expect(reasoning).toHaveLength(2_736);
    expect(windows).toHaveLength(2 + 1 + 7);
  });

  test('after 1,024 bytes of an answer nothing is sent, and after one more byte the frames within its first 769 bytes', () => {
    const sent = (bytes: number): string =>
      textsOf(read(run([...thoughts, ...words(bytes)], 'reasoning').beforeEnd))['content'] ?? '';
    expect(sent(1_024)).toHaveLength(0);
    expect(sent(1_025)).toHaveLength(768);
  });

  test('a text counts as paused once 1,024 bytes of other texts have arrived since it grew, and not one byte before', () => {
    const frames = (before: number): readonly Frame[] => [
      ...words(before),
      frame({ reasoning_content: 'a thought' }),
      ...words(1_040 - before),
    ];
    const windows = (before: number) => run(frames(before), 'reasoning').windows;
    expect(windows(16)).toEqual(['a thought', many(1_024)]);
    expect(windows(32)).toEqual([many(1_024)]);
  });

  test.each<[string, Frame]>([
    [
      'filter results of a frame without choices',
      { choices: [], prompt_filter_results: [{ hate: { severity: 'safe' } }] } as Frame,
    ],
    ['a member of the first frame', frame({ role: 'assistant', content: '' }, null, { x_groq: { id: 'a request' } })],
    ['a note', frame({}, null, { note: 'a provider' })],
  ])('after %s an answer is sent while it is generated', (_, first) => {
    const frames = [first, ...words(3_000)];
    expect(textsOf(read(run(frames, 'parameters').beforeEnd))['content']).toHaveLength(2_048 - 255 - 1);
    const whole = runGuard([write([...frames, finish]), Buffer.from(done)], undefined, judging('parameters'));
    expect(whole.end).toEqual({ kind: 'finished' });
    expect(read(whole.emitted)).toHaveLength(frames.length + 1);
    expect(read(whole.emitted).at(-1)).toEqual(finish);
  });

  test('a refusal is sent before content that no longer grows, where only the texts of the contract are judged', () => {
    const frames = [frame({ content: 'Sorry. ' }), ...pieces(many(2_000)).map((refusal) => frame({ refusal }))];
    const { beforeEnd, windows } = runGuard([write(frames)]);
    expect(textsOf(read(beforeEnd))).toEqual({ refusal: many(768) });
    expect(windows).toEqual(['Sorry. ', many(1_024)]);
  });

  test('no frame is sent after reasoning that is denied, even if the reasoning no longer grows', () => {
    const { emitted, end } = runGuard(
      [write([frame({ reasoning_content: 'forbidden' }), ...words(4_000)])],
      denies('forbidden'),
      judging('reasoning'),
    );
    expect([end, emitted]).toEqual([{ kind: 'stopped', stop: { kind: 'denied' } }, '']);
  });

  test('a text that grows again after a pause is judged with its tail, of which nothing has been sent', () => {
    const halves = ['for', 'bidden'].map((reasoning_content) => frame({ reasoning_content }));
    const [half, rest] = halves as [Frame, Frame];
    const { emitted, end } = runGuard(
      [write([half, ...words(4_000), rest, ...words(4_000)])],
      denies('forbidden'),
      judging('reasoning'),
    );
    expect(end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
    expect(emitted).not.toContain('reasoning');
    expect(textsOf(read(emitted))['content']?.length).toBeGreaterThan(2_000);
  });

  test('the window after the pause of a text does not begin inside a word', () => {
    const reasoning = (text: string): Frame => frame({ reasoning_content: text });
    const before = `${'so '.repeat(14)}class${' clean'.repeat(42)} x`;
    const rest = [...words(1_025), reasoning(' and more'), finish];
    const clean = [reasoning(before), ...rest];
    const { emitted, end } = runGuard([write(clean), Buffer.from(done)], deniesMatch(/\bass\b/), judging('reasoning'));
    expect(end).toEqual({ kind: 'finished' });
    expect(read(emitted)).toHaveLength(clean.length);
    const denied = [reasoning(before.replace('class', 'cl ass')), ...rest];
    expect(runGuard([write(denied)], deniesMatch(/\bass\b/), judging('reasoning')).end).toEqual({
      kind: 'stopped',
      stop: { kind: 'denied' },
    });
  });

  test('parts of the content keep their order, and frames with a finish reason and those after them keep their places', () => {
    const thinking = frame({ content: [{ type: 'thinking', thinking: 'a thought' }] });
    const inParts = [thinking, ...words(4_000)];
    expect(run(inParts, 'reasoning').beforeEnd).toBe('');
    const ended = [frame({ reasoning_content: 'a thought' }), frame({ content: 'x' }, 'stop'), ...words(4_000)];
    expect(run(ended, 'reasoning').beforeEnd).toBe('');
    for (const frames of [inParts, ended]) {
      const { emitted, end } = runGuard([write(frames), Buffer.from(done)], undefined, judging('reasoning'));
      expect(end).toEqual({ kind: 'finished' });
      expect(read(emitted)).toEqual(frames);
    }
  });

  test('a frame of two texts waits for both, and no frame of one of these texts overtakes it', () => {
    const both = frame({ content: 'x', reasoning_content: 'y' });
    expect(run([both, ...words(4_000)], 'reasoning').beforeEnd).toBe('');
  });
});

describe('generated streams of several texts that stand still and grow again', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', 'я', '漢', '😀'),
    minLength: 1,
    maxLength: 400,
    size: 'max',
  });
  const lanes = {
    content: (one: string) => frame({ content: one }),
    refusal: (one: string) => frame({ refusal: one }),
    reasoning: (one: string) => frame({ reasoning_content: one }),
    note: (one: string) => frame({}, null, { note: one }),
    'details 0': (one: string) => frame({ reasoning_details: [{ index: 0, text: one }] }),
    'details 1': (one: string) => frame({ reasoning_details: [{ index: 1, text: one }] }),
    thinking: (one: string) => frame({ content: [{ type: 'thinking', thinking: one }] }),
  } as const satisfies Record<string, (one: string) => Frame>;
  type Lane = keyof typeof lanes;
  const lane = fc.constantFrom(...(Object.keys(lanes) as Lane[]));
  const called = [{ index: 0, function: { arguments: 'x'.repeat(30_000) } }];
  const others: readonly ((one: string) => Frame)[] = [
    (one) => frame({ content: one, reasoning_content: one }),
    (one) => frame({ content: [{ type: 'text', text: one }] }),
    (one) => ({ choices: [], note: one }),
    () => frame({ role: 'assistant', content: '' }),
    () => frame({ tool_calls: called }),
    (one) => frame({ content: one, tool_calls: called }),
    (one) => frame({ content: one }, null, { note: 'v' }),
    () => frame({ tool_calls: called }, null, { note: 'v' }),
  ];
  /** A sequence of frames of one text, or of another form. */
  const stretch = fc
    .tuple(
      fc.oneof({ weight: 4, arbitrary: lane.map((name) => lanes[name]) }, fc.constantFrom(...others)),
      fc.array(text, { maxLength: 8 }),
    )
    .map(([put, texts]) => texts.map(put));
  const stretches = fc.array(stretch, { maxLength: 12, size: 'max' }).map((list) => list.flat());
  const numbered = (frames: readonly Frame[]): readonly Frame[] => frames.map((one, created) => ({ ...one, created }));
  const coverage = judging('reasoning', 'parameters');
  const usage: Frame = { choices: [] };
  /** The frames in the order of their numbers, each with all members of those into which it was divided. */
  function undivided(frames: readonly Frame[]): readonly Frame[] {
    const whole = new Map<number, Frame>();
    for (const one of frames) {
      const { created = 0, choices } = one;
      const known = whole.get(created);
      const [choice] = choices;
      if (known === undefined || choice === undefined) {
        expect(known).toBeUndefined();
        whole.set(created, one);
        continue;
      }
      const delta = { ...known.choices[0]?.delta, ...choice.delta };
      const count = ({ delta }: { delta: Delta }): number => Object.keys(delta).length;
      expect(Object.keys(delta)).toHaveLength(count(choice) + known.choices.reduce((sum, one) => sum + count(one), 0));
      whole.set(created, { ...known, ...one, choices: [{ ...choice, delta }] });
    }
    return [...whole.values()].toSorted((one, other) => (one.created ?? 0) - (other.created ?? 0));
  }

  test('no byte of a phrase of at most 256 bytes is sent, nor any frame after its end, whichever texts are paused', () => {
    const phrase = fc
      .tuple(fc.constantFrom('Z', 'Ж', '禁', '🚫'), fc.integer({ min: 1, max: 256 }))
      .map(([letter, bytes]) => letter.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(letter)))));
    const cuts = fc.array(fc.nat(300), { maxLength: 3 });
    fc.assert(
      fc.property(
        stretches,
        phrase,
        lane,
        cuts,
        fc.array(stretches, { minLength: 4, maxLength: 4 }),
        stretches,
        (...drawn) => {
          const [before, bad, name, inText, between, after] = drawn;
          // The frames of other texts between the pieces of the phrase.
          const other = (frames: readonly Frame[]) => frames.filter((one) => textsOf([one])[name] === undefined);
          const phraseFrames = cutAt(bad, inText).flatMap((piece, at) => [
            ...other(between[at] ?? []),
            lanes[name](piece),
          ]);
          const sent = numbered([...before, ...phraseFrames, ...after]);
          const end = before.length + phraseFrames.length - 1;
          const result = runGuard([write(sent), Buffer.from(done)], denies(bad), coverage);
          expect(result.end).toEqual({ kind: 'stopped', stop: { kind: 'denied' } });
          const received = read(result.emitted);
          expect(received.every(({ created = 0 }) => created < end)).toBe(true);
          const whole = textsOf(sent);
          for (const [member, one] of Object.entries(textsOf(received)))
            expect(whole[member]?.startsWith(one)).toBe(true);
          expect(textsOf(received)[name] ?? '').not.toContain([...bad][0]);
        },
      ),
      { numRuns: 400, endOnFailure: true },
    );
  });

  test('a clean stream arrives completely: each frame once, each text in its order, and the parts and the end in their places', () => {
    fc.assert(
      fc.property(stretches, (frames) => {
        const sent = numbered([...frames, finish, usage]);
        const result = runGuard([write(sent), Buffer.from(done)], undefined, coverage);
        expect(result.end).toEqual({ kind: 'finished' });
        const received = read(result.emitted);
        const numbers = received.map(({ created = 0 }) => created);
        expect(undivided(received)).toEqual(sent);
        expect(numbers.slice(-2)).toEqual([sent.length - 2, sent.length - 1]);
        expect(textsOf(received)).toEqual(textsOf(sent));
        for (const key of ['content', 'tool_calls'] as const) {
          const pieces = (list: readonly Frame[]) =>
            list.flatMap(({ created, choices }) => (choices[0]?.delta[key] ? [[created, choices[0].delta[key]]] : []));
          expect(pieces(received)).toEqual(pieces(sent));
        }
      }),
      { numRuns: 400, endOnFailure: true },
    );
  });

  test('a stream needs only its full windows and one more check for each pause of a text', () => {
    fc.assert(
      fc.property(stretches, (frames) => {
        const { windows, end } = runGuard([write([...frames, finish]), Buffer.from(done)], undefined, coverage);
        expect(end).toEqual({ kind: 'finished' });
        const bytes = Object.values(textsOf(frames)).reduce((sum, one) => sum + Buffer.byteLength(one), 0);
        // A window has at least 960 bytes, and a text counts as paused only after 1,024 bytes of other texts.
        expect(windows.length).toBeLessThanOrEqual(30 + 9 * Math.ceil(bytes / 960));
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});
