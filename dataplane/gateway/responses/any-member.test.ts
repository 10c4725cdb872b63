import { describe, expect, test } from 'vitest';
import { type JudgedTextKind, judgedTextKinds } from '#contracts/judged-texts';
import { parseTree } from '#kit/json/parse-tree';
import { messageItem, responseBody } from '../testing/response-script.ts';
import { formsAt, holdsForm } from '../testing/text-forms.ts';
import { inputItemTypes, inputPartKeys, messageItemKeys, outputItemTypes, responseKeys } from './known-items.ts';
import { readResponsesAnswer } from './read-responses-answer.ts';
import { readResponsesRequest, readResponsesTexts } from './read-responses-request.ts';

const all: ReadonlySet<JudgedTextKind> = new Set(judgedTextKinds);
const none: ReadonlySet<JudgedTextKind> = new Set();
const other = 'other_member';
const contentsOf = (units: readonly { readonly content: string }[]): readonly string[] =>
  units.map(({ content }) => content);

/** Members of the items of the official package. */
const itemKeys = [
  ...['id', 'call_id', 'status', 'role', 'name', 'namespace', 'server_label', 'arguments', 'input', 'tools', 'content'],
  ...[
    'output',
    'outputs',
    'result',
    'results',
    'error',
    'summary',
    'encrypted_content',
    'action',
    'actions',
    'approve',
  ],
  ...['acknowledged_safety_checks', 'pending_safety_checks', 'queries', 'code', 'operation', 'environment', 'reason'],
  ...['reasoning', 'text', 'revised_prompt', 'background', 'output_format', 'quality', 'size', 'svg_usage'],
];
const said = (more: object): object => ({ input: [{ type: 'message', role: 'user', content: 'hi', ...more }] });
const result = (output: unknown): object => ({ input: [{ type: 'function_call_output', call_id: 'c', output }] });
type Put = (key: string, value: unknown) => object;

/** The model is looked up, so `model` contains no text. */
const places: readonly (readonly [string, readonly string[], Put])[] = [
  ['the request', [...responseKeys, other].filter((key) => key !== 'model'), (key, value) => ({ [key]: value })],
  ['a message', [...messageItemKeys, other], (key, value) => said({ [key]: value })],
  ...['input_text', 'refusal', 'input_image', 'input_file', 'input_audio'].map((type): (typeof places)[number] => {
    const text = type === 'refusal' ? { refusal: 'no' } : type === 'input_text' ? { text: 'hi' } : {};
    return [
      `a part ${type}`,
      [...inputPartKeys, other],
      (key, value) => said({ content: [{ type, ...text, [key]: value }] }),
    ];
  }),
  ...['input_image', 'input_file', 'image', 'text'].map((type): (typeof places)[number] => [
    `a part ${type} of a result`,
    [...inputPartKeys, 'content', 'url', other],
    (key, value) => result([{ type, [key]: value }]),
  ]),
  ...[...inputItemTypes].map((type): (typeof places)[number] => [
    `an item ${type}`,
    [...itemKeys, other],
    (key, value) => ({ input: [{ type, [key]: value }] }),
  ]),
  ['the names of an item', ['make a bomb'], (key, value) => ({ input: [{ type: 'function_call', [key]: value }] })],
];

describe('a text of any form at any member of a request of the Responses API', () => {
  const rules = { textOnly: false, streaming: 'served', extraKeys: new Set([other]) } as const;

  test.each(places)('in a request of the Responses API, %s is judged or refused', (_, keys, put) => {
    const unseen = formsAt(keys, put).filter(({ value }) => {
      const bytes = value({ model: 'm', input: 'hi' });
      const root = parseTree(bytes);
      const request = readResponsesRequest(root, rules);
      if (!request.ok) return false;
      const contract = contentsOf(request.value.units);
      const judged = readResponsesTexts(root, bytes, all);
      const isJudged = holdsForm([...contract, ...contentsOf(judged.units)]) || judged.unjudgedAt !== undefined;
      const isRefused = readResponsesTexts(root, bytes, none).unjudgedAt !== undefined;
      return !isJudged || !(isRefused || holdsForm(contract));
    });
    expect(unseen.map(({ name }) => name)).toEqual([]);
  });

  test('the names of the API for members of items are not judged as text', () => {
    const items = [...inputItemTypes].map((type) => ({
      type,
      ...Object.fromEntries(itemKeys.map((key) => [key, true])),
    }));
    const bytes = Buffer.from(JSON.stringify({ model: 'm', input: items }));
    expect(readResponsesTexts(parseTree(bytes), bytes, all)).toEqual({ units: [], unjudgedAt: undefined });
  });
});

const answerPlaces: readonly (readonly [string, readonly string[], Put])[] = [
  [
    'the answer',
    ['id', 'usage', 'metadata', 'tools', 'instructions', 'text', 'output_text', other],
    (key, value) => responseBody([], { [key]: value }),
  ],
  ['a message', [...messageItemKeys, other], (key, value) => responseBody([{ ...messageItem(['hi']), [key]: value }])],
  [
    'a part',
    [...inputPartKeys, other],
    (key, value) => responseBody([{ type: 'message', content: [{ type: 'output_text', text: 'hi', [key]: value }] }]),
  ],
  ...[...outputItemTypes, 'other_item'].map((type): (typeof answerPlaces)[number] => [
    `an item ${type}`,
    [...itemKeys, other],
    (key, value) => responseBody([{ type, [key]: value }]),
  ]),
];

describe('a text of any form at any member of an answer of the Responses API', () => {
  test.each(answerPlaces)('in a request of the Responses API, %s is judged or refused', (_, keys, put) => {
    const unseen = formsAt(keys, put).filter(({ value }) => {
      const bytes = value({});
      const root = parseTree(bytes);
      const read = (judged: ReadonlySet<JudgedTextKind>) =>
        readResponsesAnswer(root, bytes, { judged, refuseUnjudged: true });
      const [judged, unjudged] = [read(all), read(none)];
      if (judged === undefined || judged === 'failed' || unjudged === undefined || unjudged === 'failed') return false;
      const contract = judged.texts.map(({ unit }) => unit.content);
      const isJudged = holdsForm([...contract, ...contentsOf(judged.further.units)]);
      return !isJudged || !(unjudged.further.unjudgedAt !== undefined || holdsForm(contract));
    });
    expect(unseen.map(({ name }) => name)).toEqual([]);
  });
});
