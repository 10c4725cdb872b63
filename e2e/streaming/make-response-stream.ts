import {
  callItem,
  messageItem,
  reasoningItem,
  responseEvents,
} from '../../dataplane/gateway/testing/response-script.ts';
import { cutIntoPieces, escapeAll, type MadeStream, makeText, type StreamKind, streamedBody } from './make-stream.ts';
import { createRandom, type Random } from './random.ts';

/**
 * Generates a stream of the Responses API from its seed. The text consists of one to three parts in one or two
 * messages, which clients join, so that a phrase may span parts and messages. Reasoning and calls are between them.
 */
export function makeResponseStream(seed: number, kind: StreamKind): MadeStream {
  const random = createRandom(seed);
  const made = makeText(random, kind);
  const { text, forbidden, cuts } =
    kind.kind === 'word' ? glueWord(random, made) : { ...made, cuts: cutsOf(random, made.text, kind) };
  const place = forbidden && { ...forbidden, stop: stopOf(forbidden, cuts) };
  const sent = sendItems(random, itemsOf(random, partsOf(text, cuts)));
  const field = 'response.output_text.delta';
  return { seed, api: 'responses', isJudgedOnRequest: false, forbidden: place, text, field, ...sent };
}

type Tested = Pick<MadeStream, 'text' | 'forbidden'>;

/**
 * The word begins or ends a part, and the next or previous part continues with a letter: the text is a word in its
 * part, but not in the joined text.
 */
function glueWord(random: Random, { text, forbidden }: Tested): Tested & { readonly cuts: readonly number[] } {
  if (forbidden === undefined) throw new Error('a stream of the kind word has no word');
  const { phrase } = forbidden;
  const [isBegin, isEnd] = random.pick([
    [true, false],
    [false, true],
    [true, true],
  ]);
  const before = text.slice(0, forbidden.start);
  const after = text.slice(forbidden.start + phrase.text.length);
  const front = isBegin ? before.replace(/[^\p{L}]+$/u, '') : before;
  const back = isEnd ? after.replace(/^[^\p{L}]+/u, '') : after;
  const start = front.length;
  const end = start + phrase.text.length;
  const cuts = [...(isBegin ? [start] : []), ...(isEnd ? [end] : [])];
  return {
    text: front + phrase.text + back,
    forbidden: { phrase, start, startBytes: Buffer.byteLength(front), stop: start },
    cuts,
  };
}

/** The events of a stream of these items, with texts and arguments in pieces. */
export function sendItems(
  random: Random,
  items: readonly Readonly<Record<string, unknown>>[],
): Pick<MadeStream, 'payloads' | 'body'> {
  const events = responseEvents(items, (whole) => (whole === '' ? [] : cutIntoPieces(random, whole)), { model: 'm' });
  const payloads = events.map((event) => {
    const json = random.chance(5) ? JSON.stringify(event, null, 1) : JSON.stringify(event);
    return random.chance(30) ? escapeAll(json) : json;
  });
  const isNamed = random.chance(80);
  const names = events.map((event) => (isNamed ? String(event['type']) : undefined));
  return { payloads, body: streamedBody(random, payloads, names) };
}

function itemsOf(random: Random, parts: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const split = random.between(1, parts.length);
  const between = [
    ...(random.chance(30) ? [reasoningItem('a clean thought')] : []),
    ...(random.chance(30) ? [callItem('{"city":"Paris"}')] : []),
  ];
  const later = parts.slice(split);
  return [
    ...(random.chance(30) ? [reasoningItem('another clean thought', 'rs_0')] : []),
    messageItem(parts.slice(0, split)),
    ...between,
    ...(later.length === 0 ? [] : [messageItem(later, 'msg_2')]),
  ];
}

/**
 * The places at which one to three parts begin: never inside of a surrogate pair, because each part is a separate text;
 * and in a text of words at the border of a word, because the end of a part ends a word, which would then be a separate
 * token.
 */
function cutsOf(random: Random, text: string, { kind }: StreamKind): readonly number[] {
  const isBorder = (at: number): boolean =>
    kind === 'tokens'
      ? /[\p{L}]/u.test(text.charAt(at - 1)) !== /[\p{L}]/u.test(text.charAt(at))
      : !/[\ud800-\udbff]/.test(text.charAt(at - 1));
  return Array.from({ length: random.below(3) }, () => {
    let at = random.below(text.length + 1);
    while (at > 0 && !isBorder(at)) at -= 1;
    return at;
  }).sort((one, other) => one - other);
}

function partsOf(text: string, cuts: readonly number[]): readonly string[] {
  return [0, ...cuts].map((start, index) => text.slice(start, cuts[index] ?? text.length));
}

function stopOf({ start, phrase }: NonNullable<MadeStream['forbidden']>, cuts: readonly number[]): number {
  return cuts.findLast((at) => at > start && at < start + phrase.text.length) ?? start;
}
