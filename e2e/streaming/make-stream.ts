import { allPhrases, cleanText, nearMiss, type Phrase, type ScriptName, scriptNames } from './phrases.ts';
import { createRandom, type Random } from './random.ts';
import { tokenText } from './token-words.ts';

type ForbiddenPlace = {
  readonly phrase: Phrase;
  readonly start: number;
  readonly startBytes: number;
  /**
   * The offset in UTF-16 units from which no text may be sent. It is the start of the phrase, unless a text of the
   * Responses API ends inside of the phrase: that text is sent at its end, and the rest of the phrase is never sent.
   * The arguments of a call are sent together, so that their value is 0.
   */
  readonly stop: number;
};

/** The index of the call whose arguments are under test; another call may come before it. */
export const testedCall = 1;

/** Members of a chunk of a chat, and the deltas of an event of the Responses API. */
export type StreamField =
  | 'content'
  | 'refusal'
  | 'reasoning_content'
  | 'arguments'
  | 'name'
  | 'note'
  | 'response.output_text.delta'
  | 'response.reasoning_summary_text.delta'
  | 'response.function_call_arguments.delta';

/** One streamed answer as a provider sends it. */
export type MadeStream = {
  /** The seed that generates it. */
  readonly seed: number;
  readonly api: 'chat' | 'responses';
  /** Whether the field under test is one that `judge` of the binding adds. */
  readonly isJudgedOnRequest: boolean;
  /**
   * The forbidden phrase of the stream, and the offset of the phrase in UTF-16 units and in bytes; undefined for a
   * clean stream.
   */
  readonly forbidden: ForbiddenPlace | undefined;
  /** The whole text of the field under test. */
  readonly text: string;
  /** The field of the deltas under test. */
  readonly field: StreamField;
  /** The data of each event in order, without [DONE] of a chat. */
  readonly payloads: readonly string[];
  /** The complete body of the stream. */
  readonly body: string;
};

export type StreamKind =
  | { readonly kind: 'clean' }
  /** A stream that token rules do not match unless a window cuts a word. */
  | { readonly kind: 'tokens' }
  /** A stream with the same words as `tokens`, and one word that a token rule denies. */
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'forbidden'; readonly phrase: Phrase; readonly offset: number };

const phrases = allPhrases();
const lineEnds = ['\n', '\n', '\r\n', '\r'] as const;
const withoutText = [
  { tool_calls: [{ index: 0, function: { arguments: '{"a":"<no' } }] },
  { reasoning_content: 'thinking', content: null },
  {},
];

/** Generates a stream from its seed: script, text, frames and the JSON form of each frame. */
export function makeStream(seed: number, kind: StreamKind): MadeStream {
  const random = createRandom(seed);
  const { text, forbidden } = makeText(random, kind);
  const field = random.chance(85) ? 'content' : 'refusal';
  const inParts = field === 'content' && random.chance(30);
  const payloads = cutIntoPieces(random, text).flatMap((piece) =>
    inParts && random.chance(80) ? partsFrames(random, piece) : framesOf(random, field, piece),
  );
  const whole = [
    payload(random, { role: 'assistant', content: '' }, null),
    ...payloads,
    payload(random, {}, 'stop'),
    ...(random.chance(30) ? ['{"choices":[],"usage":{"total_tokens":7}}'] : []),
  ];
  const body = streamedBody(random, [...whole, '[DONE]'], []);
  return { seed, api: 'chat', isJudgedOnRequest: false, forbidden, text, field, payloads: whole, body };
}

/** The text of a stream, with its forbidden phrase if the kind has one. */
export function makeText(random: Random, kind: StreamKind): Pick<MadeStream, 'text' | 'forbidden'> {
  switch (kind.kind) {
    case 'forbidden': {
      const { script } = kind.phrase;
      const before = textOf(random, script, kind.offset);
      return {
        text: before + kind.phrase.text + textOf(random, script, random.below(700)),
        forbidden: placeOf(kind.phrase, before),
      };
    }
    case 'clean':
      return { text: textOf(random, random.pick(scriptNames), random.below(3_600)), forbidden: undefined };
    case 'tokens':
      return { text: tokenText(random, random.between(1_500, 4_500)), forbidden: undefined };
    case 'word': {
      const phrase = { script: 'latin', text: kind.word, bytes: Buffer.byteLength(kind.word) } as const;
      const before = tokenText(random, random.below(2_500));
      return {
        text: `${before}${kind.word}. ${tokenText(random, random.below(700))}`,
        forbidden: placeOf(phrase, before),
      };
    }
  }
}

function placeOf(phrase: Phrase, before: string): ForbiddenPlace {
  return { phrase, start: before.length, startBytes: Buffer.byteLength(before), stop: before.length };
}

/** Clean text of that many bytes, with near misses where they fit. */
function textOf(random: Random, script: ScriptName, bytes: number): string {
  const chosen = random.chance(20) ? 'mixed' : script;
  const miss = nearMiss(random.pick(phrases));
  const missBytes = Buffer.byteLength(miss);
  if (missBytes >= bytes || random.chance(50)) return cleanText(random, chosen, bytes);
  const head = random.below(bytes - missBytes);
  return cleanText(random, chosen, head) + miss + cleanText(random, chosen, bytes - missBytes - head);
}

/** Splits a text anywhere between UTF-16 units, even inside of surrogate pairs. */
export function cutIntoPieces(random: Random, text: string): readonly string[] {
  const density = random.below(10);
  const most = density < 3 ? 4 : density < 7 ? 60 : density < 9 ? 250 : text.length > 900 ? 400 : text.length;
  const cuts = new Set(Array.from({ length: Math.min(most, text.length) }, () => random.between(1, text.length)));
  if (most === text.length) for (let at = 1; at < text.length; at += 1) cuts.add(at);
  const edges = [0, ...[...cuts].filter((at) => at < text.length).sort((one, other) => one - other), text.length];
  return edges.slice(1).map((end, index) => text.slice(edges[index], end));
}

function framesOf(random: Random, field: string, piece: string): string[] {
  const frames = [payload(random, { [field]: piece }, null)];
  if (random.chance(4)) frames.push(payload(random, random.pick(withoutText), null));
  return frames;
}

/** Frames whose content is a list of parts, as Mistral sends it; a part with a thought may be between them. */
function partsFrames(random: Random, piece: string): string[] {
  const at = random.chance(30) ? random.below(piece.length + 1) : 0;
  const parts = [piece.slice(0, at), piece.slice(at)]
    .filter((text) => text !== '')
    .map((text) => ({ type: 'text', text }));
  const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'a thought' }] }];
  return [
    payload(random, { content: parts }, null),
    ...(random.chance(4) ? [payload(random, { content: thinking }, null)] : []),
  ];
}

/** The data of one chunk. */
export function payload(random: Random, delta: object, finish: string | null): string {
  const chunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  const json = random.chance(5) ? JSON.stringify(chunk, null, 1) : JSON.stringify(chunk);
  return random.chance(30) ? escapeAll(json) : json;
}

/** The JSON with every non-ASCII character escaped. */
export function escapeAll(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The events of a stream in one of the forms that server-sent events can have; an event may have a name. */
export function streamedBody(
  random: Random,
  payloads: readonly string[],
  names: readonly (string | undefined)[],
): string {
  const end = random.pick(lineEnds);
  const begin = random.chance(10) ? '\u{feff}' : '';
  const space = random.chance(80) ? ' ' : '';
  const events = payloads.map((data, index) => {
    const comment = random.chance(3) ? `: keep alive${end}${end}` : '';
    // A parser removes one space after the colon, so that data that begins with a space needs a second space.
    const lines = data.split('\n').map((line) => `data:${line.startsWith(' ') ? ' ' : space}${line}${end}`);
    const name = names[index];
    return `${comment}${name === undefined ? '' : `event:${space}${name}${end}`}${lines.join('')}${end}`;
  });
  return begin + events.join('');
}
