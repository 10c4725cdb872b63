import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import { partKeys } from '../chat/known-keys.ts';
import { type AnswerPlace, isOfContent, isWithoutFurtherText, reasoningMembers } from './answer-texts.ts';
import { isFixedKey, writtenAt } from './collect-texts.ts';
import { isApiValue, isApiWord, isShortNumberKey } from './covered-texts.ts';
import { escapedTexts } from './escaped-texts.ts';
import { type PictureNode, pictureAt, pictureBelow, readPictureString } from './picture-texts.ts';
import type { Coverage } from './route-coverage.ts';
import { isService, maxNumberLength } from './service-value.ts';

/**
 * How clients read a string of kind `parameters` that is not an item of a list. `value`: they read a member of the root
 * or the choice anew from each frame. `member`: some clients join the values of a member of the delta to one text, and
 * others use the last value.
 */
type Reading = 'value' | 'member';

/**
 * A piece of a text that grows from frame to frame. `path` names the place and the member, without positions in lists,
 * but with the `index` of an item that has one. `isString`: the piece is a string, not a number followed by a space.
 * `inList`: the piece is in an item of a list.
 */
type Piece = {
  readonly path: string;
  readonly text: string;
  readonly isString?: true;
  readonly inList?: true;
  readonly reading?: Reading;
};

/** A piece of one tool call; `call` is the place and the number of that call in the message. */
type CallPiece = { readonly call: string; readonly name: string; readonly input: string };

/** The texts of one frame beyond content and refusal, of the kinds that `judge` of the binding adds. */
export type DeltaTexts = {
  readonly pieces: readonly Piece[];
  /**
   * Strings of `pieces` that a client can read as separate texts: strings of the frame that have the same path, strings
   * of the root and the choice, strings in a list of kind `parameters`, and strings of a call whose input is not a
   * string, both as written and without their JSON escapes. A rule for whole words does not find a word that is joined
   * to another string. The keys of the frame are included, too, as one text with spaces.
   */
  readonly lone: readonly string[];
  readonly calls: readonly CallPiece[];
  /** Whether the frame belongs to a tool call of which a part is judged, so that the order of its frames matters. */
  readonly isCall: boolean;
  /** Whether the frame has text of a kind that is not judged. */
  readonly unjudged: boolean;
  /**
   * Words of kinds that are not judged. Each word alone is a value of the API, but all words of one path together can
   * be a text.
   */
  readonly words: readonly { readonly path: string; readonly text: string }[];
};

type ObjectNode = JsonNode & { readonly kind: 'object' };

/** Keys of the API whose values contain texts. These keys are the same in each frame. */
const apiKeys: ReadonlySet<string> = new Set(['logprobs', 'content_filter_results', 'prompt_filter_results']);

/**
 * Reads one frame that `readChunk` accepted: its root, the choice and the delta (docs/design/judged-texts.md,
 * "Streams").
 * @param bytes the bytes from which the frame was parsed: numbers are judged as they are written
 */
export function readDeltaTexts(frame: JsonNode, bytes: Buffer, { judged }: Coverage): DeltaTexts {
  const pieces: Piece[] = [];
  const logprobs: Piece[] = [];
  const items: string[] = [];
  const keys: string[] = [];
  const calls: CallPiece[] = [];
  const words: { readonly path: string; readonly text: string }[] = [];
  let unjudged = false;
  let isCall = false;
  const judgesCalls = judged.has('toolCalls') || judged.has('names');
  const takeUnjudged = ({ kind, place, key, value }: Taken, found: FoundPieces): void => {
    const isMember = kind === 'parameters' && key !== 'logprobs';
    // Short numbers are no text, as in a whole answer.
    const strings = found.pieces.filter(
      ({ text, isString }) => isString === true || text.trimEnd().length > maxNumberLength,
    );
    const keys = isMember ? found.keys.filter((one) => !isShortNumberKey(one)) : found.keys;
    const texts = [...keys, ...strings.map(({ text }) => text)];
    const isWords = isMember ? isApiValue(texts) : kind === 'toolCalls' && value.kind === 'string' && isApiValue(texts);
    if (!isWords) unjudged ||= texts.length > 0;
    else if (place === 'message') for (const one of strings) words.push(one);
  };
  const takePieces = (taken: Taken): void => {
    const { kind, place, key, path, value, isItem } = taken;
    const isParameter = kind === 'parameters' && key !== 'logprobs';
    const reading: Reading | undefined = !isParameter ? undefined : place === 'message' ? 'member' : 'value';
    const found: FoundPieces = { pieces: [], keys: [], isUnreadable: false };
    const how = {
      ...(isItem === true ? { inList: true as const } : {}),
      ...(reading === undefined ? {} : { reading }),
    };
    collectPieces(value, path, { bytes, found }, how, isParameter ? pictureAt(key, isItem === true) : undefined);
    if (found.isUnreadable) unjudged = true;
    if (!judged.has(kind)) {
      takeUnjudged(taken, found);
      return;
    }
    for (const one of found.keys) keys.push(one);
    if (kind === 'parameters' && key === 'logprobs') {
      for (const one of found.pieces) logprobs.push(one);
      return;
    }
    // The pieces are not passed as arguments: a frame can have more pieces than a call may have arguments.
    for (const one of found.pieces) pieces.push(one);
    // The pieces of a reasoning are items in some APIs.
    const isLone = ({ inList, isString }: Piece): boolean =>
      kind !== 'reasoning' && (inList === true || (reading === 'value' && isString === true));
    for (const text of textsOf(found.pieces.filter(isLone))) items.push(text);
    if (kind === 'toolCalls') for (const text of textsOf(found.pieces).flatMap(withoutEscapes)) items.push(text);
  };
  const takeKey = (kind: JudgedTextKind, key: string): void => {
    if (!judged.has(kind)) unjudged ||= !isApiWord(key);
    else if (!apiKeys.has(key)) keys.push(key);
  };
  const takeCall = (call: CallPiece): void => {
    const name = judged.has('names') ? call.name : '';
    const input = judged.has('toolCalls') ? call.input : '';
    unjudged ||= (name !== call.name && !isApiWord(call.name)) || input !== call.input;
    if (name !== call.name) words.push({ path: `${call.call} name`, text: call.name });
    if (name !== '' || input !== '') calls.push({ call: call.call, name, input });
  };
  for (const { node, place } of placesOf(frame)) {
    for (const one of node.members) {
      const { key, value } = one;
      if (place === 'message' && key === 'content') readParts(value, takePieces, takeKey);
      if (isWithoutFurtherText(one, place)) continue;
      const path = below(place, key);
      if (key === 'tool_calls' || key === 'function_call') {
        isCall ||= judgesCalls && value.kind !== 'null';
        readCalls({ key, place, path, value }, { takeCall, takePieces, takeKey });
      } else if (reasoningMembers.has(key)) takePieces({ kind: 'reasoning', place, key, path, value });
      else {
        takeKey('parameters', key);
        takePieces({ kind: 'parameters', place, key, path, value });
      }
    }
  }
  const keyTexts = keys.length === 0 ? [] : [keys.join(' ').toWellFormed()];
  const lone = [...items, ...textsOf(repeated(pieces)), ...keyTexts];
  return { pieces: [...pieces, ...logprobs, ...apart(logprobs)], lone, calls, isCall, unjudged, words };
}

/** Whether the pieces of calls, or of a reasoning, in a member of the delta are judged. */
export function isJudgedMember(key: string, judged: Coverage['judged'] = new Set()): boolean {
  return reasoningMembers.has(key) ? judged.has('reasoning') : judged.has('toolCalls') || judged.has('names');
}

/**
 * The path of a member. It includes the length of the key, so that two different paths never have the same characters.
 */
function below(path: string, key: string): string {
  return `${path}.${key.length}:${key}`;
}

/** The strings of a frame that share a path with another string of the frame. */
function repeated(pieces: readonly Piece[]): readonly Piece[] {
  const strings = pieces.filter(({ isString }) => isString);
  const counts = new Map<string, number>();
  for (const { path } of strings) counts.set(path, (counts.get(path) ?? 0) + 1);
  return strings.filter(({ path }) => (counts.get(path) ?? 0) > 1);
}

/**
 * The pieces as one text with a space after each string. A frame can have 20 tokens for each token of the answer, so
 * that a message for each of them would need many checks.
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

/**
 * The further texts of a content that is a list of parts; `path` has no positions, so that a text grows from frame to
 * frame.
 */
function readParts(content: JsonNode, takePieces: Sink['takePieces'], takeKey: Sink['takeKey']): void {
  for (const part of content.kind === 'array' ? content.items : []) {
    for (const one of part.kind === 'object' ? part.members : []) {
      if (isOfContent(one)) continue;
      const { key, value } = one;
      const at = { place: 'message', key, path: below('message content', key), value } as const;
      if (reasoningMembers.has(key)) takePieces({ kind: 'reasoning', ...at });
      else {
        if (!isFixedKey(key)) takeKey('parameters', key);
        takePieces({ kind: 'parameters', ...at, isItem: true });
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

/** A value whose texts are read. `isItem`: the value is an item of a list, or belongs to an item. */
type Taken = {
  readonly kind: JudgedTextKind;
  readonly place: AnswerPlace;
  readonly key: string;
  readonly path: string;
  readonly value: JsonNode;
  readonly isItem?: boolean;
};

type Sink = {
  readonly takeCall: (call: CallPiece) => void;
  readonly takePieces: (taken: Taken) => void;
  readonly takeKey: (kind: JudgedTextKind, key: string) => void;
};

const callService: ReadonlySet<string> = new Set(['index', 'id', 'type']);

function readCalls({ key, place, path, value }: Omit<Taken, 'kind'>, sink: Sink): void {
  const calls = value.kind === 'array' ? value.items : [value];
  for (const [position, call] of calls.entries()) {
    if (call.kind !== 'object') {
      sink.takePieces({ kind: 'toolCalls', place, key, path, value: call, isItem: true });
      continue;
    }
    const index = member(call, 'index');
    const isNumbered = index?.kind === 'number';
    // If a call has no number, a call of a later frame can be a different call.
    const isItem = value.kind === 'array' && !isNumbered;
    readCall(`${path} ${isNumbered ? index.value : position}`, call, place, { ...sink, isItem });
  }
}

function readCall(call: string, node: ObjectNode, place: AnswerPlace, sink: Sink & { readonly isItem: boolean }): void {
  for (const one of node.members) {
    const { key, value } = one;
    if (isService(one, callService)) continue;
    if ((key === 'function' || key === 'custom') && value.kind === 'object') readCall(call, value, place, sink);
    else if (key === 'name' && value.kind === 'string') sink.takeCall({ call, name: value.value, input: '' });
    else if ((key === 'arguments' || key === 'input') && value.kind === 'string')
      sink.takeCall({ call: `${call} ${key}`, name: '', input: value.value });
    else {
      if (!isFixedKey(key)) sink.takeKey('toolCalls', key);
      // An input that is no string has no pieces.
      const isItem = sink.isItem || key === 'arguments' || key === 'input';
      sink.takePieces({ kind: 'toolCalls', place, key, path: below(call, key), value, isItem });
    }
  }
}

/** The texts of a value, and whether it has data of a file that cannot be read. */
type FoundPieces = { readonly pieces: Piece[]; readonly keys: string[]; isUnreadable: boolean };
type Collecting = { readonly bytes: Buffer; readonly found: FoundPieces };
type HowRead = Pick<Piece, 'inList' | 'reading'>;

/** Every string below a value, keys of an author, and numbers as they are written. */
function collectPieces(node: JsonNode, path: string, into: Collecting, how: HowRead, picture?: PictureNode): void {
  const { bytes, found } = into;
  switch (node.kind) {
    case 'string': {
      if (node.value === '') return;
      if (picture === undefined) found.pieces.push({ path, text: node.value, isString: true, ...how });
      else {
        const { written, decoded, isUnreadable } = readPictureString(node, bytes, picture);
        found.isUnreadable ||= isUnreadable;
        if (written) found.pieces.push({ path, text: node.value, isString: true, ...how });
        for (const text of decoded) found.pieces.push({ path: `${path} decoded`, text, isString: true, inList: true });
      }
      return;
    }
    case 'number':
      found.pieces.push({ path: `${path} numbers`, text: `${writtenAt(bytes, node)} `, ...how });
      return;
    case 'array':
      for (const item of node.items) {
        const index = member(item, 'index');
        const at = index?.kind === 'number' ? `${path} ${index.value}` : path;
        collectPieces(item, at, into, { ...how, inList: true }, picture === 'images' ? 'image' : undefined);
      }
      return;
    case 'object':
      for (const { key, value } of node.members) {
        if (!isFixedKey(key) && !(picture !== undefined && partKeys.has(key))) found.keys.push(key);
        collectPieces(value, below(path, key), into, how, pictureBelow(picture, key));
      }
      return;
    case 'boolean':
    case 'null':
      return;
  }
}
