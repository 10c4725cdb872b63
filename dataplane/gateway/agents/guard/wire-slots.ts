import type { LongTexts } from '#checks/guard/guard-target';
import { joinSeams } from '#checks/guard/join-seams';
import { slotsOf, type TextSlot } from '#checks/guard/judge-slots';
import type { JsonValue } from '#kit/json/json-value';
import { respellingOf } from './one-spelling.ts';

/** Members whose content an author or a caller is free to choose: every text, number and name in them is judged. */
const free = names('data metadata arguments structuredContent _meta inputSchema outputSchema annotations');

/** Members of A2A 1.0 and of MCP that hold texts, lists and objects. Their names are fixed by the protocols and not judged. */
const known = names(
  'result task tasks message statusUpdate artifactUpdate status artifact artifacts history parts text name title description',
  'extensions referenceTaskIds configuration acceptedOutputModes error details content contents resource uri tools',
  'capabilities serverInfo clientInfo protocolVersion instructions version nextCursor nextPageToken cursor reason domain',
  'messageId contextId taskId id artifactId role state timestamp mediaType mimeType type filename icons listChanged',
  'append lastChunk final isError blocking returnImmediately historyLength pageSize totalSize code progress total @type',
  'requestId progressToken tenant index logging prompts resources sampling elicitation roots level logger',
);

/** Members that contain an identifier. A UUID in them contains no text. */
const ids = names('messageId contextId taskId id artifactId referenceTaskIds requestId progressToken');
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Values of fixed forms, which contain no text either. */
const forms: Readonly<Record<string, RegExp>> = {
  role: /^(ROLE_USER|ROLE_AGENT|user|assistant)$/,
  state: /^TASK_STATE_[A-Z_]{1,32}$/,
  timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/,
  mediaType: /^(text|application)\/[a-z0-9.+-]{1,64}$/,
  mimeType: /^(text|application)\/[a-z0-9.+-]{1,64}$/,
  acceptedOutputModes: /^(text|application)\/[a-z0-9.+-]{1,64}$/,
  type: /^(text|resource|resource_link)$/,
  protocolVersion: /^\d{4}-\d\d-\d\d$/,
  status: /^[A-Z_]{1,32}$/,
  reason: /^[A-Z_]{1,64}$/,
  '@type': /^type\.googleapis\.com\/google\.rpc\.[A-Za-z]{1,32}$/,
};
const numbers = names('historyLength pageSize totalSize code progress total index');

/**
 * The details of an error of A2A. One without a string as its type is a map whose names the author of the error chose: the
 * SDK of Go sends such.
 */
const errorDetails = 'error details';

/** Content that is bytes, or that is elsewhere: the gateway cannot judge it. */
const opaque = names('raw blob url');
const opaqueTypes = names('image audio');

/** A member that another reader may take for one of the protocols, while the rules above do not. */
const isRespelled = respellingOf([...free, ...known, ...opaque]);

/** Why a message cannot be judged: its content is bytes or elsewhere, or a name of the protocols has another spelling. */
type Unreadable = 'opaque' | 'respelled';

/**
 * The texts of a message of A2A or MCP, or why it cannot be judged.
 * @param longTexts how the policy judges a text that is larger than one check
 */
export function wireSlots(
  holder: Record<string, JsonValue>,
  key: string,
  longTexts: LongTexts,
): readonly TextSlot[] | Unreadable {
  const slots: TextSlot[] = [];
  return visit(holder, key, key, { slots, longTexts }) ?? slots;
}

type Found = { readonly slots: TextSlot[]; readonly longTexts: LongTexts };

/** @returns undefined for content that can be judged */
function visit(
  holder: Record<string, JsonValue> | JsonValue[],
  key: string | number,
  name: string,
  found: Found,
): Unreadable | undefined {
  const { slots } = found;
  const value = (holder as Record<string | number, JsonValue>)[key];
  if (typeof value === 'string') {
    const isFixed = (ids.has(name) && uuid.test(value)) || forms[name]?.test(value) === true;
    const isName = ids.has(name) || (forms[name] !== undefined && name !== 'status' && name !== 'reason');
    if (isFixed) return undefined;
    // A masked id would name something else.
    append(slots, isName ? [{ text: value }] : slotsOf(holder, key));
    return undefined;
  }
  if (typeof value === 'number') {
    if (!numbers.has(name)) slots.push({ text: String(value) });
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) {
    const isMap = name === errorDetails && typeof key === 'number' && typeof value['@type'] !== 'string';
    if (!isMap) return visitObject(value, name, found);
    append(slots, slotsOf(holder, key));
    return undefined;
  }
  for (const index of value.keys()) {
    const fault = visit(value, index, name, found);
    if (fault !== undefined) return fault;
  }
  append(slots, joinedSlots(value, name, found.longTexts));
  return undefined;
}

/**
 * The text parts of a list as one text: joined by line breaks, and for a message also joined without them. The blocks
 * of a result are separate values, such as numbers. A policy that judges in windows decides within the overlap of two
 * windows, so that the text around the places where parts are joined is enough; a mask in a window of the whole text
 * would deny a message that the masks of its parts allow.
 */
function joinedSlots(parts: readonly JsonValue[], name: string, longTexts: LongTexts): readonly TextSlot[] {
  const glues = name === 'content' ? ['\n'] : ['', '\n'];
  return glues.flatMap((glue) => {
    const texts = textsOf(parts).map((text, at) => (at === 0 ? text : `${glue}${text}`));
    const accepts = (masked: string): boolean => textsOf(parts).join(glue).includes(masked);
    const joined = longTexts === 'windows' ? joinSeams(texts) : joinWhole(texts);
    return joined.map((text) => ({ text, accepts }));
  });
}

function joinWhole(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text !== '').length < 2 ? [] : [texts.join('')];
}

function textsOf(parts: readonly JsonValue[]): readonly string[] {
  return parts.flatMap((part) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
    const text = isObject ? part['text'] : undefined;
    return typeof text === 'string' ? [text] : [];
  });
}

function visitObject(value: Record<string, JsonValue>, name: string, found: Found): Unreadable | undefined {
  if (typeof value['type'] === 'string' && opaqueTypes.has(value['type'])) return 'opaque';
  for (const member of Object.keys(value)) {
    if (opaque.has(member)) return 'opaque';
    if (isRespelled(member)) return 'respelled';
    const isFree = free.has(member);
    if (!isFree && !known.has(member)) found.slots.push({ text: member });
    if (isFree || !known.has(member)) append(found.slots, slotsOf(value, member));
    else {
      const isDetails = name === 'error' && member === 'details';
      const fault = visit(value, member, isDetails ? errorDetails : member, found);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/** The values are added one by one: a call with as many arguments as a message can have texts overflows the stack. */
function append(slots: TextSlot[], more: readonly TextSlot[]): void {
  for (const slot of more) slots.push(slot);
}

function names(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')));
}
