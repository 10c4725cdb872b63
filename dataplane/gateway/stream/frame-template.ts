import { JsonError, type JsonNode, member, parseTree } from '#kit/json/parse-strict';

/** A frame of the known form: its text, and the bytes that are sent for it, one character of Latin-1 for each byte. */
type MatchedFrame = { readonly text: string; readonly sent: string };
type Range = { readonly start: number; readonly end: number };
/** The bytes between the strings of a frame, as they are received, and as they are sent in Latin-1. */
type Form = { readonly received: readonly Buffer[]; readonly sent: readonly string[] };
/** A string of a frame: the position behind it, its value, and its bytes in Latin-1. */
type FrameString = { readonly end: number; readonly value: string; readonly written: string };

const quote = 0x22;
const space = 0x20;
const lastAscii = 0x7f;
const backslash = 0x5c;
const lineFeed = 0x0a;
const textKey = Buffer.from('"content"');

/** After this number of forms, a provider whose frames have no common form is no longer compared. */
const maxForms = 8;

/**
 * The form of the frames of one stream. A provider repeats in each frame everything but the text. After a frame was
 * read as strict JSON, each later frame with the same bytes around its strings is strict JSON with the same members,
 * and only these strings differ; so only the strings need to be read. The strings are the text of a chat and the
 * padding that some providers send. Every other frame does not match and must be read completely.
 */
export class FrameTemplate {
  #form: Form | undefined;
  #learned = 0;

  /**
   * Learns the form of a frame that was read as strict JSON and whose only text is `delta.content`.
   * @param sent the bytes that are sent for the frame: a data event in which only one further member may differ
   */
  learn(data: Buffer, sent: Buffer): void {
    if (this.#learned >= maxForms || !data.includes(textKey) || data.includes(lineFeed)) return;
    this.#learned += 1;
    const strings = stringsOf(data);
    this.#form = strings === undefined ? undefined : formOf(data, sent, strings);
  }

  /** @returns undefined for a frame of another form, or without text */
  match(data: Buffer): MatchedFrame | undefined {
    if (this.#form === undefined) return undefined;
    const { received, sent } = this.#form;
    let written = '';
    let text: string | undefined;
    let at = 0;
    for (let index = 0; index < received.length; index += 1) {
      const fixed = received[index] as Buffer;
      if (!hasBytes(data, at, fixed)) return undefined;
      at += fixed.length;
      written += sent[index] as string;
      if (index === received.length - 1) return at === data.length && text ? { text, sent: written } : undefined;
      const string = readString(data, at);
      if (string === undefined) return undefined;
      text ??= string.value;
      written += string.written;
      at = string.end;
    }
    return undefined;
  }
}

/** Whether `bytes` has these bytes at `start`. For the length of a frame, a loop takes less time than a call of Node. */
function hasBytes(bytes: Buffer, start: number, expected: Buffer): boolean {
  if (start + expected.length > bytes.length) return false;
  for (let at = 0; at < expected.length; at += 1) if (bytes[start + at] !== expected[at]) return false;
  return true;
}

/** The JSON string in UTF-8 that begins at `start`; half a surrogate pair may be escaped. */
function readString(bytes: Buffer, start: number): FrameString | undefined {
  if (bytes[start] !== quote) return undefined;
  let isAscii = true;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      const written = bytes.toString('latin1', start, at + 1);
      const value = isAscii ? written.slice(1, -1) : decode(bytes, start + 1, at);
      return value === undefined ? undefined : { end: at + 1, value, written };
    }
    if (byte < space || byte === backslash) return readEscapedString(bytes, start);
    if (byte > lastAscii) isAscii = false;
  }
  return undefined;
}

function readEscapedString(bytes: Buffer, start: number): FrameString | undefined {
  const end = endOfString(bytes, start);
  const text = end === -1 ? undefined : decode(bytes, start, end);
  if (text === undefined) return undefined;
  try {
    return { end, value: JSON.parse(text) as string, written: bytes.toString('latin1', start, end) };
  } catch {
    return undefined;
  }
}

/** The position after the string that begins at `start`; -1 if it does not end. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}

/** The text of bytes in UTF-8; undefined with U+FFFD, which may represent bytes that are not UTF-8. */
function decode(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('utf8', start, end);
  return text.includes('\u{fffd}') ? undefined : text;
}

/** The positions of the strings that differ between frames, the text first; undefined if the frame has no text. */
function stringsOf(data: Buffer): readonly Range[] | undefined {
  const root = readTree(data);
  if (root === undefined) return undefined;
  const choices = member(root, 'choices');
  const choice = choices?.kind === 'array' ? choices.items[0] : undefined;
  const delta = choice === undefined ? undefined : member(choice, 'delta');
  const content = delta === undefined ? undefined : member(delta, 'content');
  if (content?.kind !== 'string') return undefined;
  const padding = member(root, 'obfuscation');
  // The text is the first string of a match, so that padding before it has no place in a form.
  return padding?.kind === 'string' && padding.start > content.end ? [content, padding] : [content];
}

function readTree(data: Buffer): JsonNode | undefined {
  try {
    return parseTree(data, { unpairedSurrogates: 'keep' });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

const prefixBytes = 'data: '.length;
const suffixBytes = '\n\n'.length;

/** @returns undefined if the read and the sent bytes differ in one of the strings */
function formOf(data: Buffer, sent: Buffer, strings: readonly Range[]): Form | undefined {
  const inner = sent.subarray(prefixBytes, sent.length - suffixBytes);
  const least = Math.min(data.length, inner.length);
  let same = 0;
  while (same < least && data[same] === inner[same]) same += 1;
  let sameEnd = 0;
  while (sameEnd < least - same && data[data.length - 1 - sameEnd] === inner[inner.length - 1 - sameEnd]) sameEnd += 1;
  const shift = sent.length - suffixBytes - data.length;
  const received: Buffer[] = [];
  const written: string[] = [];
  let at = 0;
  let sentAt = 0;
  for (const { start, end } of strings) {
    if (end > same && start < data.length - sameEnd) return undefined;
    const offset = end <= same ? prefixBytes : shift;
    received.push(Buffer.from(data.subarray(at, start)));
    written.push(sent.toString('latin1', sentAt, start + offset));
    at = end;
    sentAt = end + offset;
  }
  received.push(Buffer.from(data.subarray(at)));
  written.push(sent.toString('latin1', sentAt));
  return { received, sent: written };
}
