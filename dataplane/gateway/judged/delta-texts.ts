import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import { type AnswerPlace, isOfContent, isWithoutFurtherText, reasoningMembers } from './answer-texts.ts';
import { isFixedKey, writtenAt } from './collect-texts.ts';
import { isApiWord } from './covered-texts.ts';
import { escapedTexts } from './escaped-texts.ts';
import type { Coverage } from './route-coverage.ts';
import { isService } from './service-value.ts';

/**
 * A piece of a text that grows from frame to frame. `path` names the member, without positions in lists, and with the `index` of an
 * item where it has one. `isString`: it is a string and no key or number, which have a blank behind them. `inList`: it is in an item
 * of a list.
 */
type Piece = { readonly path: string; readonly text: string; readonly isString?: true; readonly inList?: true };

/** A piece of one tool call; `call` is the number of that call in the message. */
type CallPiece = { readonly call: string; readonly name: string; readonly input: string };

/** The texts of one frame beyond content and refusal, of the kinds that `judge` of the binding adds. */
export type DeltaTexts = {
  readonly pieces: readonly Piece[];
  /**
   * Strings of `pieces` that a client can read as texts of their own: several ones of the frame that have one path, those in a list of
   * kind `parameters`, and those of a call whose input is no string, as they are written and without the escapes of JSON in them. A rule
   * for whole words does not find a word to which another string is glued.
   */
  readonly lone: readonly string[];
  readonly calls: readonly CallPiece[];
  /** Whether the frame belongs to a tool call of which a part is judged, so that its order counts. */
  readonly isCall: boolean;
  /** Whether the frame has text of a kind that is not judged. */
  readonly unjudged: boolean;
};

type ObjectNode = JsonNode & { readonly kind: 'object' };

/**
 * Reads one frame that `readChunk` accepted: its root, the choice and the delta (docs/design/judged-texts.md, "Streams").
 * @param bytes from which the frame was parsed: numbers are judged as they are written
 */
export function readDeltaTexts(frame: JsonNode, bytes: Buffer, { judged }: Coverage): DeltaTexts {
  const pieces: Piece[] = [];
  const logprobs: Piece[] = [];
  const items: string[] = [];
  const calls: CallPiece[] = [];
  let unjudged = false;
  let isCall = false;
  const judgesCalls = judged.has('toolCalls') || judged.has('names');
  const takePieces = (kind: JudgedTextKind, path: string, value: JsonNode, isItem = false): void => {
    const found = piecesOf(value, path, bytes, isItem ? { inList: true } : {});
    if (!judged.has(kind)) unjudged ||= found.some(({ text }) => !isApiWord(text));
    else if (path === 'logprobs') for (const one of found) logprobs.push(one);
    else {
      // Not as arguments: a frame can have more pieces than a call may have arguments.
      for (const one of found) pieces.push(one);
      // The pieces of a reasoning are items in some APIs.
      if (kind !== 'reasoning') for (const text of textsOf(found.filter(({ inList }) => inList))) items.push(text);
      if (kind === 'toolCalls') for (const text of textsOf(found).flatMap(withoutEscapes)) items.push(text);
    }
  };
  const takeKey = (kind: JudgedTextKind, path: string, key: string): void => {
    if (judged.has(kind)) pieces.push({ path, text: `${key} ` });
    else unjudged ||= !isApiWord(key);
  };
  const takeCall = (call: CallPiece): void => {
    const name = judged.has('names') ? call.name : '';
    const input = judged.has('toolCalls') ? call.input : '';
    unjudged ||= (name !== call.name && !isApiWord(call.name)) || input !== call.input;
    if (name !== '' || input !== '') calls.push({ call: call.call, name, input });
  };
  for (const { node, place } of placesOf(frame)) {
    for (const one of node.members) {
      const { key, value } = one;
      if (place === 'message' && key === 'content') readParts(value, takePieces, takeKey);
      if (isWithoutFurtherText(one, place)) continue;
      if (key === 'tool_calls' || key === 'function_call') {
        isCall ||= judgesCalls && value.kind !== 'null';
        readCalls(key, value, { takeCall, takePieces, takeKey });
      } else if (reasoningMembers.has(key)) takePieces('reasoning', key, value);
      else {
        takeKey('parameters', 'keys', key);
        takePieces('parameters', key, value);
      }
    }
  }
  const lone = [...items, ...textsOf(repeated(pieces))];
  return { pieces: [...pieces, ...logprobs, ...apart(logprobs)], lone, calls, isCall, unjudged };
}

/** The strings of which a frame has several ones with one path. */
function repeated(pieces: readonly Piece[]): readonly Piece[] {
  const strings = pieces.filter(({ isString }) => isString);
  const counts = new Map<string, number>();
  for (const { path } of strings) counts.set(path, (counts.get(path) ?? 0) + 1);
  return strings.filter(({ path }) => (counts.get(path) ?? 0) > 1);
}

/**
 * The same as one text with a blank after each string. A frame can have 20 tokens for each one of the answer, so that a
 * message for each of them would take many checks.
 */
function apart(pieces: readonly Piece[]): readonly Piece[] {
  return textsOf(repeated(pieces)).map((text) => ({ path: 'logprobs apart', text: `${text} ` }));
}

/** The strings and keys with escapes of a text that is JSON. */
function withoutEscapes(content: string): readonly string[] {
  const place = { kind: 'string', string: { start: 0, end: 0 } } as const;
  return escapedTexts({ role: 'assistant', content, place }).map((unit) => unit.content);
}

/** The texts of pieces that are judged alone. The window of a piece has the whole of a character that the piece cuts. */
function textsOf(pieces: readonly Piece[]): readonly string[] {
  return pieces.map(({ text }) => text.toWellFormed());
}

/** The further texts of a content that is a list of parts; `path` has no positions, so that a text grows from frame to frame. */
function readParts(content: JsonNode, takePieces: Sink['takePieces'], takeKey: Sink['takeKey']): void {
  for (const part of content.kind === 'array' ? content.items : []) {
    for (const one of part.kind === 'object' ? part.members : []) {
      if (isOfContent(one)) continue;
      const { key, value } = one;
      const path = `content.${key}`;
      if (reasoningMembers.has(key)) takePieces('reasoning', path, value);
      else {
        if (!isFixedKey(key)) takeKey('parameters', 'content keys', key);
        takePieces('parameters', path, value, true);
      }
    }
  }
}

function placesOf(root: JsonNode): readonly { readonly node: ObjectNode; readonly place: AnswerPlace }[] {
  const choices = member(root, 'choices');
  const choice = choices?.kind === 'array' ? choices.items[0] : undefined;
  const delta = choice === undefined ? undefined : member(choice, 'delta');
  const places = [
    { node: root, place: 'root' },
    { node: choice, place: 'choice' },
    { node: delta, place: 'message' },
  ] as const;
  return places.flatMap(({ node, place }) => (node?.kind === 'object' ? [{ node, place }] : []));
}

type Sink = {
  readonly takeCall: (call: CallPiece) => void;
  /** `isItem`: the value is one of a list, or belongs to one. */
  readonly takePieces: (kind: JudgedTextKind, path: string, value: JsonNode, isItem?: boolean) => void;
  readonly takeKey: (kind: JudgedTextKind, path: string, key: string) => void;
};

const callService: ReadonlySet<string> = new Set(['index', 'id', 'type']);

function readCalls(key: string, value: JsonNode, sink: Sink): void {
  const calls = value.kind === 'array' ? value.items : [value];
  for (const [position, call] of calls.entries()) {
    if (call.kind !== 'object') {
      sink.takePieces('toolCalls', key, call, true);
      continue;
    }
    const index = member(call, 'index');
    const isNumbered = index?.kind === 'number';
    // Without a number a call of a later frame can be another one.
    const isItem = value.kind === 'array' && !isNumbered;
    readCall(key, `${key} ${isNumbered ? index.value : position}`, call, { ...sink, isItem });
  }
}

function readCall(path: string, call: string, node: ObjectNode, sink: Sink & { readonly isItem: boolean }): void {
  for (const one of node.members) {
    const { key, value } = one;
    if (isService(one, callService)) continue;
    if ((key === 'function' || key === 'custom') && value.kind === 'object') readCall(path, call, value, sink);
    else if (key === 'name' && value.kind === 'string') sink.takeCall({ call, name: value.value, input: '' });
    else if ((key === 'arguments' || key === 'input') && value.kind === 'string')
      sink.takeCall({ call: `${call} ${key}`, name: '', input: value.value });
    else {
      if (!isFixedKey(key)) sink.takeKey('toolCalls', `${path} keys`, key);
      // An input that is no string has no pieces.
      sink.takePieces('toolCalls', `${call}.${key}`, value, sink.isItem || key === 'arguments' || key === 'input');
    }
  }
}

/** Every string below a value, keys of an author, and numbers as they are written. */
function piecesOf(node: JsonNode, path: string, bytes: Buffer, inList: Pick<Piece, 'inList'> = {}): readonly Piece[] {
  switch (node.kind) {
    case 'string':
      return node.value === '' ? [] : [{ path, text: node.value, isString: true, ...inList }];
    case 'number':
      return [{ path: `${path} numbers`, text: `${writtenAt(bytes, node)} ` }];
    case 'array':
      return node.items.flatMap((item) => {
        const index = member(item, 'index');
        return index?.kind === 'number'
          ? piecesOf(item, `${path} ${index.value}`, bytes, { inList: true })
          : piecesOf(item, path, bytes, { inList: true });
      });
    case 'object':
      return node.members.flatMap(({ key, value }) => [
        ...(isFixedKey(key) ? [] : [{ path: `${path} keys`, text: `${key} ` }]),
        ...piecesOf(value, `${path}.${key}`, bytes, inList),
      ]);
    case 'boolean':
    case 'null':
      return [];
  }
}
