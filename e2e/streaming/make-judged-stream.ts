import { callItem, messageItem, reasoningItem } from '../../dataplane/gateway/testing/response-script.ts';
import { sendItems } from './make-response-stream.ts';
import {
  cutIntoPieces,
  type MadeStream,
  makeText,
  payload,
  type StreamKind,
  streamedBody,
  testedCall,
} from './make-stream.ts';
import { createRandom, type Random } from './random.ts';

/**
 * Generates a stream whose text under test is reasoning or the arguments of a tool call, which `judge` of a binding adds
 * to the texts of the contract.
 */
export function makeJudgedStream(seed: number, kind: StreamKind): MadeStream {
  const random = createRandom(seed);
  const made = makeText(random, kind);
  const isCall = random.chance(60);
  const isChat = random.chance(50);
  const tested = isCall ? inArguments(random, made) : made;
  if (!isChat) return judgedResponse(random, { ...tested, seed, isCall });
  const payloads = [
    payload(random, { role: 'assistant', content: '' }, null),
    ...(isCall ? callFrames(random, tested.text) : reasoningFrames(random, tested.text)),
    payload(random, {}, isCall ? 'tool_calls' : 'stop'),
  ];
  const field = isCall ? 'arguments' : 'reasoning_content';
  const body = streamedBody(random, [...payloads, '[DONE]'], []);
  return { seed, api: 'chat', isJudgedOnRequest: true, ...tested, field, payloads, body };
}

type Tested = Pick<MadeStream, 'text' | 'forbidden'>;

/**
 * Arguments with the text as one of their strings, in any spelling that JSON has for its characters. None of them may
 * leave if the text is forbidden.
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

function reasoningFrames(random: Random, text: string): readonly string[] {
  const thoughts = cutIntoPieces(random, text).flatMap((piece) => [
    payload(random, { reasoning_content: piece }, null),
    ...(random.chance(3) ? [payload(random, { content: 'clean ' }, null)] : []),
  ]);
  return [...thoughts, payload(random, { content: 'and the answer' }, null)];
}

/** The frames of two calls; text of the answer may be in front of them. */
function callFrames(random: Random, text: string): readonly string[] {
  const called = (index: number, ofFunction: object, more: object = {}): string =>
    payload(random, { tool_calls: [{ index, ...more, function: ofFunction }] }, null);
  const begin = (index: number): string =>
    called(index, { name: 'lookup', arguments: '' }, { id: `call_${index}`, type: 'function' });
  const other = testedCall - 1;
  return [
    ...(random.chance(50) ? [payload(random, { content: 'I look that up.' }, null)] : []),
    begin(other),
    ...cutIntoPieces(random, '{"city":"Paris"}').map((piece) => called(other, { arguments: piece })),
    begin(testedCall),
    ...cutIntoPieces(random, text).map((piece) => called(testedCall, { arguments: piece })),
  ];
}

function judgedResponse(
  random: Random,
  { seed, isCall, text, forbidden }: Tested & { readonly seed: number; readonly isCall: boolean },
): MadeStream {
  const tested = isCall ? callItem(text, 'lookup', 'fc_2') : reasoningItem(text);
  const items = [
    ...(random.chance(50) ? [messageItem(['I look that up.'])] : []),
    tested,
    ...(random.chance(50) ? [messageItem(['This is the answer.'], 'msg_2')] : []),
  ];
  const field = isCall ? 'response.function_call_arguments.delta' : 'response.reasoning_summary_text.delta';
  return { seed, api: 'responses', isJudgedOnRequest: true, forbidden, text, field, ...sendItems(random, items) };
}
