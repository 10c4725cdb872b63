import type { JudgedTextKind } from '#contracts/judged-texts';
import type { JsonValue } from '#kit/json/parse-strict';
import { reasoningMembers, serviceMembers } from './answer-texts.ts';
import { isFixedKey } from './collect-texts.ts';
import { isApiWord } from './covered-texts.ts';
import type { Coverage } from './route-coverage.ts';

/** A piece of a text that grows from frame to frame; `path` names the member, without positions in lists. */
type Piece = { readonly path: string; readonly text: string };

/** A piece of one tool call; `call` is the number of that call in the message. */
type CallPiece = { readonly call: string; readonly name: string; readonly input: string };

/** The texts of one frame beyond content and refusal, of the kinds that `judge` of the binding adds. */
export type DeltaTexts = {
  readonly pieces: readonly Piece[];
  readonly calls: readonly CallPiece[];
  /** Whether the frame belongs to a tool call of which a part is judged, so that its order counts. */
  readonly isCall: boolean;
  /** Whether the frame has text of a kind that is not judged. */
  readonly unjudged: boolean;
};

type Members = { readonly [key: string]: JsonValue };

/** Reads the parts of one frame: its root, the choice and the delta (docs/design/judged-texts.md, "Streams"). */
export function readDeltaTexts(parts: readonly Members[], { judged }: Coverage): DeltaTexts {
  const pieces: Piece[] = [];
  const calls: CallPiece[] = [];
  let unjudged = false;
  let isCall = false;
  const judgesCalls = judged.has('toolCalls') || judged.has('names');
  const takePieces = (kind: JudgedTextKind, path: string, value: JsonValue): void => {
    const found: Piece[] = [];
    collect(value, path, found);
    if (judged.has(kind)) pieces.push(...found);
    else unjudged ||= found.some(({ text }) => !isApiWord(text));
  };
  const takeCall = (call: CallPiece): void => {
    const name = judged.has('names') ? call.name : '';
    const input = judged.has('toolCalls') ? call.input : '';
    unjudged ||= (name !== call.name && !isApiWord(call.name)) || input !== call.input;
    if (name !== '' || input !== '') calls.push({ call: call.call, name, input });
  };
  for (const members of parts) {
    for (const [key, value] of Object.entries(members)) {
      if (serviceMembers.has(key)) continue;
      if (key === 'tool_calls' || key === 'function_call') {
        isCall ||= judgesCalls && value !== null;
        readCalls(key, value, takeCall, takePieces);
      } else if (reasoningMembers.has(key)) takePieces('reasoning', key, value);
      else {
        takePieces('parameters', 'keys', key);
        takePieces('parameters', key, value);
      }
    }
  }
  return { pieces, calls, isCall, unjudged };
}

function readCalls(
  key: string,
  value: JsonValue,
  takeCall: (call: CallPiece) => void,
  takePieces: (kind: JudgedTextKind, path: string, value: JsonValue) => void,
): void {
  const calls = Array.isArray(value) ? value : [value];
  for (const [position, call] of calls.entries()) {
    if (!isMembers(call)) {
      takePieces('toolCalls', key, call);
      continue;
    }
    const { index, id: _, type: __, function: ofFunction, custom, ...rest } = call;
    const name = `${key} ${typeof index === 'number' ? index : position}`;
    for (const members of [ofFunction, custom, rest]) {
      if (!isMembers(members)) takePieces('toolCalls', key, members ?? null);
      else readCall(name, members, takeCall, (path, one) => takePieces('toolCalls', `${key}.${path}`, one));
    }
  }
}

function readCall(
  call: string,
  members: Members,
  takeCall: (call: CallPiece) => void,
  takePiece: (path: string, value: JsonValue) => void,
): void {
  for (const [key, value] of Object.entries(members)) {
    if (typeof value !== 'string') takePiece(key, value);
    else if (key === 'name') takeCall({ call, name: value, input: '' });
    else if (key === 'arguments' || key === 'input') takeCall({ call: `${call} ${key}`, name: '', input: value });
    else takePiece(key, value);
  }
}

/** Every string below a value, keys of an author, and numbers as they are written. */
function collect(value: JsonValue, path: string, pieces: Piece[]): void {
  if (typeof value === 'string') {
    if (value !== '') pieces.push({ path, text: value });
  } else if (typeof value === 'number') pieces.push({ path: `${path} numbers`, text: `${value} ` });
  else if (Array.isArray(value)) for (const item of value) collect(item, path, pieces);
  else if (isMembers(value)) {
    for (const [key, one] of Object.entries(value)) {
      if (!isFixedKey(key)) pieces.push({ path: `${path} keys`, text: `${key} ` });
      collect(one, `${path}.${key}`, pieces);
    }
  }
}

function isMembers(value: JsonValue | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
