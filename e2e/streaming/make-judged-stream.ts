import { callItem, messageItem, reasoningItem } from '../../dataplane/gateway/testing/response-script.ts';
import { sendItems } from './make-response-stream.ts';
import {
  cutIntoPieces,
  type MadeStream,
  makeText,
  payload,
  type StreamField,
  type StreamKind,
  streamedBody,
  testedCall,
} from './make-stream.ts';
import { cleanText } from './phrases.ts';
import { createRandom, type Random } from './random.ts';
import { tokenText } from './token-words.ts';

/**
 * The place of the text under test: in the arguments or the name of a call, in reasoning, or in a member of the
 * provider.
 */
type TestedPlace = 'arguments' | 'name' | 'reasoning' | 'parameter';

/** Clean text of this number of bytes makes a string of arguments larger than one check. */
const longBytes = 34_000;

/** Generates a stream whose text under test is a text that `judge` of a binding adds to the texts of the contract. */
export function makeJudgedStream(seed: number, kind: StreamKind): MadeStream {
  const random = createRandom(seed);
  const made = makeText(random, kind);
  const place = random.pick<TestedPlace>(['arguments', 'arguments', 'name', 'reasoning', 'parameter']);
  const isLong = place === 'arguments' && random.chance(8);
  const tested = testedIn(place, random, isLong ? lengthened(random, made, kind) : made);
  if (place !== 'parameter' && random.chance(50)) return judgedResponse(random, { ...tested, seed, place });
  const payloads = [
    payload(random, { role: 'assistant', content: '' }, null),
    ...chatFrames(random, tested.text, place, kind),
    payload(random, {}, place === 'arguments' || place === 'name' ? 'tool_calls' : 'stop'),
  ];
  const field = chatFields[place];
  const body = streamedBody(random, [...payloads, '[DONE]'], []);
  return { seed, api: 'chat', isJudgedOnRequest: true, ...tested, field, payloads, body };
}

const chatFields = {
  arguments: 'arguments',
  name: 'name',
  reasoning: 'reasoning_content',
  parameter: 'note',
} as const satisfies Record<TestedPlace, StreamField>;

function chatFrames(random: Random, text: string, place: TestedPlace, kind: StreamKind): readonly string[] {
  switch (place) {
    case 'arguments':
      return callFrames(random, 'lookup', text, kind);
    case 'name':
      return callFrames(random, text, '{"city":"Oslo"}', kind);
    case 'reasoning':
    case 'parameter':
      return textFrames(random, chatFields[place], text, kind);
  }
}

/** A text that is larger than one check, so that it is judged in windows. */
function lengthened(random: Random, { text, forbidden }: Tested, { kind }: StreamKind): Tested {
  const more =
    kind === 'tokens' || kind === 'word' ? `${tokenText(random, longBytes)} ` : cleanText(random, 'mixed', longBytes);
  return random.chance(50) ? { text: more + text, forbidden } : { text: text + more, forbidden };
}

function testedIn(place: TestedPlace, random: Random, { text, forbidden }: Tested): Tested {
  if (place === 'arguments') return inArguments(random, { text, forbidden });
  // Frames of a call are sent together.
  return { text, forbidden: place === 'name' && forbidden !== undefined ? { ...forbidden, stop: 0 } : forbidden };
}

type Tested = Pick<MadeStream, 'text' | 'forbidden'>;

/**
 * Arguments with the text as one of their strings, in any JSON spelling of its characters. If the text is forbidden, no
 * part of the arguments may be sent.
 */
function inArguments(random: Random, { text, forbidden }: Tested): Tested {
  const density = random.pick([0, 10, 100]);
  const spelled = [...text].map((character) =>
    random.chance(density) ? escapeUnits(character) : JSON.stringify(character).slice(1, -1),
  );
  const blank = random.pick(['', ' ', '\n ']);
  const json = `{${blank}"limit":${blank}3,${blank}"query":${blank}"${spelled.join('')}"${blank}}`;
  return { text: json, forbidden: forbidden && { ...forbidden, stop: 0 } };
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}

/**
 * The frames of a text, followed by content that is often so long that the text pauses and frames of the content are
 * sent before its tail. The text may then grow again; a clean text of words grows only between two words, because the
 * existing text is judged when it pauses, and could end inside of a word.
 */
function textFrames(random: Random, member: string, text: string, { kind }: StreamKind): readonly string[] {
  const cut = member === chatFields.parameter ? cutOf(kind) : cutIntoPieces;
  const thoughtsOf = (part: string): readonly string[] =>
    cut(random, part).flatMap((piece) => [
      ...(piece === '' ? [] : [payload(random, { [member]: piece }, null)]),
      ...(random.chance(3) ? [payload(random, { content: 'clean ' }, null)] : []),
    ]);
  const answer = random.chance(60) ? cleanText(random, 'latin', random.between(1_000, 4_000)) : 'and the answer';
  const answers = cutIntoPieces(random, answer).map((piece) => payload(random, { content: piece }, null));
  const drawn = random.chance(50) ? random.below(text.length + 1) : text.length;
  const pause = kind === 'tokens' && drawn < text.length ? text.lastIndexOf(' ', drawn) + 1 : drawn;
  return [...thoughtsOf(text.slice(0, pause)), ...answers, ...thoughtsOf(text.slice(pause))];
}

/**
 * How a name or a member of the provider is split: clients may read each piece alone, so that a clean text has no piece
 * that ends inside of a word.
 */
function cutOf(kind: StreamKind['kind']): typeof cutIntoPieces {
  return kind === 'tokens' ? cutBetweenWords : cutIntoPieces;
}

function cutBetweenWords(random: Random, text: string): readonly string[] {
  const density = random.pick([5, 50, 100]);
  return text.split(/(?<=\s)/).reduce<string[]>((pieces, word) => {
    if (pieces.length === 0 || random.chance(density)) pieces.push(word);
    else pieces.push(`${pieces.pop()}${word}`);
    return pieces;
  }, []);
}

/** The frames of two tool calls; the text of the answer may come before them. */
function callFrames(random: Random, name: string, input: string, { kind }: StreamKind): readonly string[] {
  const called = (index: number, ofFunction: object, more: object = {}): string =>
    payload(random, { tool_calls: [{ index, ...more, function: ofFunction }] }, null);
  const begin = (index: number, ofFunction: object = {}): string =>
    called(index, { ...ofFunction, arguments: '' }, { id: `call_${index}`, type: 'function' });
  const other = testedCall - 1;
  return [
    ...(random.chance(50) ? [payload(random, { content: 'I look that up.' }, null)] : []),
    begin(other, { name: 'lookup' }),
    ...cutIntoPieces(random, '{"city":"Paris"}').map((piece) => called(other, { arguments: piece })),
    begin(testedCall),
    ...cutOf(kind)(random, name).map((piece) => called(testedCall, { name: piece })),
    ...cutIntoPieces(random, input).map((piece) => called(testedCall, { arguments: piece })),
  ];
}

function judgedResponse(
  random: Random,
  { seed, place, text, forbidden }: Tested & { readonly seed: number; readonly place: TestedPlace },
): MadeStream {
  const items = [
    ...(random.chance(50) ? [messageItem(['I look that up.'])] : []),
    responseItem(text, place),
    ...(random.chance(50) ? [messageItem(['This is the answer.'], 'msg_2')] : []),
  ];
  const field =
    place === 'reasoning' ? 'response.reasoning_summary_text.delta' : 'response.function_call_arguments.delta';
  return { seed, api: 'responses', isJudgedOnRequest: true, forbidden, text, field, ...sendItems(random, items) };
}

function responseItem(text: string, place: TestedPlace): ReturnType<typeof callItem> {
  if (place === 'reasoning') return reasoningItem(text);
  return place === 'name' ? callItem('{"city":"Oslo"}', text, 'fc_2') : callItem(text, 'lookup', 'fc_2');
}
