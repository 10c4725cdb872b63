import { joinSeams } from '#checks/guard/join-seams';
import { slotsOf, type TextSlot } from '#checks/guard/judge-slots';
import type { JsonValue } from '#kit/json/json-value';

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

/** Members that name something. A UUID in them carries no text. */
const ids = names('messageId contextId taskId id artifactId referenceTaskIds requestId progressToken');
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Values of fixed forms, which carry no text either. */
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

/** Content that is bytes, or that is elsewhere: the gateway cannot judge it. */
const opaque = names('raw blob url');
const opaqueTypes = names('image audio');

/** The texts of a message of A2A or MCP; `opaque` if it has content that cannot be judged. */
export function wireSlots(holder: Record<string, JsonValue>, key: string): readonly TextSlot[] | 'opaque' {
  const slots: TextSlot[] = [];
  return visit(holder, key, key, slots) ? slots : 'opaque';
}

/** @returns false for opaque content */
function visit(
  holder: Record<string, JsonValue> | JsonValue[],
  key: string | number,
  name: string,
  slots: TextSlot[],
): boolean {
  const value = (holder as Record<string | number, JsonValue>)[key];
  if (typeof value === 'string') {
    const isFixed = (ids.has(name) && uuid.test(value)) || forms[name]?.test(value) === true;
    const isName = ids.has(name) || (forms[name] !== undefined && name !== 'status' && name !== 'reason');
    if (isFixed) return true;
    // A masked id would name something else.
    append(slots, isName ? [{ text: value }] : slotsOf(holder, key));
    return true;
  }
  if (typeof value === 'number') {
    if (!numbers.has(name)) slots.push({ text: String(value) });
    return true;
  }
  if (typeof value !== 'object' || value === null) return true;
  if (!Array.isArray(value)) return visitObject(value, slots);
  const isReadable = value.every((_, index) => visit(value, index, name, slots));
  append(slots, seamSlots(value, name));
  return isReadable;
}

/**
 * The texts around the places where two text parts of a list are joined: by a line break, and those of a message directly, too. The
 * blocks of a result are separate values, such as numbers.
 */
function seamSlots(parts: readonly JsonValue[], name: string): readonly TextSlot[] {
  const glues = name === 'content' ? ['\n'] : ['', '\n'];
  return glues.flatMap((glue) => {
    const texts = textsOf(parts).map((text, at) => (at === 0 ? text : `${glue}${text}`));
    const accepts = (masked: string): boolean => textsOf(parts).join(glue).includes(masked);
    return joinSeams(texts).map((text) => ({ text, accepts }));
  });
}

function textsOf(parts: readonly JsonValue[]): readonly string[] {
  return parts.flatMap((part) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
    const text = isObject ? part['text'] : undefined;
    return typeof text === 'string' ? [text] : [];
  });
}

function visitObject(value: Record<string, JsonValue>, slots: TextSlot[]): boolean {
  if (typeof value['type'] === 'string' && opaqueTypes.has(value['type'])) return false;
  for (const member of Object.keys(value)) {
    if (opaque.has(member)) return false;
    const isFree = free.has(member);
    if (!isFree && !known.has(member)) slots.push({ text: member });
    if (isFree || !known.has(member)) append(slots, slotsOf(value, member));
    else if (!visit(value, member, member, slots)) return false;
  }
  return true;
}

/** One by one: a call with as many arguments as a message can have texts overflows the stack. */
function append(slots: TextSlot[], more: readonly TextSlot[]): void {
  for (const slot of more) slots.push(slot);
}

function names(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(' ')));
}
