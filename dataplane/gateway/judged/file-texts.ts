import { isUtf8 } from 'node:buffer';
import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import { foldKey } from '../chat/fold-key.ts';
import { partKeys } from '../chat/known-keys.ts';
import type { TextCollector } from './covered-texts.ts';
import { isService } from './service-value.ts';

/** Media types whose data contains no text, unless the data can be read as text. */
const mediaWithoutText = /^(?:image|audio|video)\//i;
/**
 * Base64 with lines of at least 60 characters, so that ordinary words do not match. An unbounded counted loop, `{60,}`,
 * runs out of memory after 5 million characters.
 */
const base64 = /^(?:[A-Za-z0-9+/_-]{60}[A-Za-z0-9+/_-]*\r?\n)*[A-Za-z0-9+/_-]*={0,2}\s*$/;
/** Maximum number of characters of base64 that may be a word. */
const longestWord = 4_096;
/** The type and parameters of a `data:` URL, without the words of an author. */
const dataHead = /^[\w.+/-]{0,128}(?:;\s*[\w-]+(?:=[\w.-]{1,64})?\s*){0,4}$/;
/**
 * Programs that read addresses ignore white space and control characters before an address, and tabs and line ends
 * inside of it.
 */
const breaks = /[\t\n\r]/g;
const dataUrl = /^[\s\p{Cc}]*d[\t\n\r]*a[\t\n\r]*t[\t\n\r]*a[\t\n\r]*:([^,]*),(.*)$/isu;

/**
 * The texts of the attachments in the parts of a message: addresses, names, and text in `data:` URLs and in base64.
 * Images, audio and video have no text. Any other document in base64 cannot be read, so that it counts as text that is
 * not judged.
 */
export function readFileTexts(content: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (content.kind !== 'array') return;
  for (const [index, part] of content.items.entries()) {
    if (part.kind === 'object') readPart(part, `${place}[${index}]`, role, collector, contractMembers);
  }
}

/**
 * The texts of the member `images` of a message: parts with an address, as providers return them, or any other value. The contract
 * judges no text of it. A string is an address or the data of a file.
 */
export function readImageTexts(images: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (images.kind === 'array') {
    for (const [index, image] of images.items.entries()) readImage(image, `${place}[${index}]`, role, collector);
  } else readImage(images, place, role, collector);
}

function readImage(image: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (image.kind === 'string') readFileData(image, place, role, collector);
  else if (image.kind === 'object') {
    for (const { key } of image.members) if (!partKeys.has(key)) collector.takeDecoded('files', key, place, role);
    const address = member(image, 'url');
    if (address !== undefined) readAddress(address, `${place}.url`, role, collector);
    readPart(image, place, role, collector, imageMembers);
  } else collector.take('files', image, place, role, 'long');
}

/** Members of a part whose texts the contract judges. */
const contractMembers: ReadonlySet<string> = new Set(['text', 'refusal']);
/** Members of a picture whose texts are read separately from those of a part. */
const imageMembers: ReadonlySet<string> = new Set(['url']);
/**
 * Members with the address of a file and other facts about the file; if the member is a string, as Mistral accepts it,
 * it is the address.
 */
export const addressed: ReadonlySet<string> = new Set(['image_url', 'video_url', 'audio_url', 'file']);
const partService: ReadonlySet<string> = new Set(['type']);

/** Whether a member lists the sources of an answer of Mistral, by numbers that are too short for card numbers. */
function isSources(
  { key, value }: { readonly key: string; readonly value: JsonNode },
  part: JsonNode & { readonly kind: 'object' },
): boolean {
  const type = member(part, 'type');
  if (key !== 'reference_ids' || type?.kind !== 'string' || type.value !== 'reference') return false;
  return value.kind === 'array' && value.items.every(isSourceNumber);
}

function isSourceNumber(node: JsonNode): boolean {
  return node.kind === 'number' && node.end - node.start <= longestSourceNumber && Number.isInteger(node.value);
}

const longestSourceNumber = 6;

function readPart(
  part: JsonNode & { readonly kind: 'object' },
  place: string,
  role: string,
  collector: TextCollector,
  judgedMembers: ReadonlySet<string>,
): void {
  for (const one of part.members) {
    const { key, value } = one;
    const at = `${place}.${key}`;
    if (judgedMembers.has(key) || isService(one, partService) || isSources(one, part)) continue;
    if (key === 'input_audio') readAudio(value, at, role, collector);
    else if (key === 'thinking') collector.take('reasoning', value, at, role, true);
    else if (!addressed.has(key)) collector.take('parameters', value, at, role, true);
    else if (key !== 'file') readAddressed(value, at, role, collector);
    else if (value.kind === 'object') readFileMembers(value, true, at, role, collector);
    else {
      if (isElsewhere({ key: 'file_data', value })) collector.unreadable(at);
      readFileData(value, at, role, collector);
    }
  }
}

/** The texts of an address of a picture, a video or a recording: a string, or an object with further members. */
export function readAddressed(value: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (value.kind === 'object') readFileMembers(value, false, place, role, collector);
  else readAddress(value, place, role, collector);
}

function readFileMembers(
  file: JsonNode & { readonly kind: 'object' },
  isDocument: boolean,
  place: string,
  role: string,
  collector: TextCollector,
): void {
  for (const member of file.members) {
    if (isDocument && isElsewhere(member)) collector.unreadable(place);
    const name = foldKey(member.key);
    if (name === 'file_data') readFileData(member.value, place, role, collector);
    else if (addresses.has(name)) readAddress(member.value, place, role, collector);
    else {
      if (!fileMembers.has(name)) collector.takeDecoded('files', member.key, place, role);
      collector.take('files', member.value, place, role, 'long');
    }
  }
}

/** Names that the API gives to the members of a file. */
const fileMembers: ReadonlySet<string> = new Set(['filename', 'file_id', 'detail', 'format', 'mime_type']);

/** Members of a file that contain its address. */
export const addresses: ReadonlySet<string> = new Set(['file_url', 'url']);

/** The maximum length of the scheme of an address. */
const longestScheme = 64;

/** The scheme of an address, the rest of it, and whether tabs or line ends are in the scheme, read as clients read addresses. */
function readScheme(
  text: string,
): { readonly scheme: string; readonly rest: string; readonly isBroken: boolean } | undefined {
  const end = text.indexOf(':');
  const written = text.slice(0, Math.max(end, 0)).replace(/^[\s\p{Cc}]+/u, '');
  const scheme = written.replace(breaks, '');
  if (scheme.length > longestScheme || !/^[a-z][a-z\d+.-]*$/i.test(scheme)) return undefined;
  return { scheme: scheme.toLowerCase(), rest: text.slice(end + 1), isBroken: scheme !== written };
}

/**
 * Whether a text is an address other than a `data:` URL. With a line end in its scheme it is an address only if a slash
 * follows, because ordinary text has line ends, too.
 */
function isOtherAddress(text: string): boolean {
  const address = readScheme(text);
  if (address === undefined || address.scheme === 'data') return false;
  return address.isBroken ? /^[\t\n\r]*\//.test(address.rest) : /^\S/.test(address.rest);
}

function isWebAddress(text: string): boolean {
  const address = readScheme(text);
  return address !== undefined && /^[\t\n\r]*\/[\t\n\r]*\//.test(address.rest);
}

/**
 * Whether a member of a file names a document that the provider stores or fetches: the model reads it, but no check
 * does. The text of a `data:` URL is in the request and is read with the addresses.
 */
export function isElsewhere({ key, value }: { readonly key: string; readonly value: JsonNode }): boolean {
  const name = foldKey(key);
  if (name === 'file_data') return value.kind === 'string' && isOtherAddress(value.value);
  if ((name !== 'file_id' && !addresses.has(name)) || value.kind === 'null') return false;
  return value.kind !== 'string' || (value.value !== '' && (name === 'file_id' || !dataUrl.test(value.value)));
}

const audioService: ReadonlySet<string> = new Set(['format']);
const audioMembers: ReadonlySet<string> = new Set(['format', 'transcript']);

/** The texts of a recording: every member except the recording itself, for example a transcript. */
export function readAudio(node: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (node.kind !== 'object') {
    readRecording(node, place, role, collector);
    return;
  }
  for (const one of node.members) {
    if (one.key === 'data') readRecording(one.value, place, role, collector);
    else if (!isService(one, audioService)) {
      if (!audioMembers.has(one.key)) collector.takeDecoded('files', one.key, place, role);
      collector.take('files', one.value, place, role, true);
    }
  }
}

/** Mistral takes a recording in base64 or its address, and others a `data:` URL. */
function readRecording(node: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (textInBase64(node) === 'not base64') readAddress(node, place, role, collector);
  else readMedia('files', node, place, role, collector);
}

/**
 * Base64 data that should contain no text, such as a picture: a text in it is judged, and so is any value that is not
 * base64.
 */
export function readMedia(
  kind: JudgedTextKind,
  node: JsonNode,
  place: string,
  role: string,
  collector: TextCollector,
): void {
  const text = textInBase64(node);
  if (text === 'not base64') collector.take(kind, node, place, role, true);
  else if (text !== undefined) collector.takeDecoded(kind, text, place, role);
}

/** The text that a string in base64 holds; undefined where it holds other data. */
export function textInBase64(node: JsonNode): string | 'not base64' | undefined {
  return node.kind === 'string' && base64.test(node.value) ? decode(node.value, true) : 'not base64';
}

/** The text of an address of a file: that in a `data:` URL, or the address. */
export function readAddress(node: JsonNode, place: string, role: string, collector: TextCollector): void {
  const written = node.kind === 'string' ? node.value : '';
  const [, head, data] = dataUrl.exec(written.replace(breaks, '')) ?? [];
  if (head === undefined || data === undefined) {
    collector.take('files', node, place, role, 'long');
    takeUnescaped(written, place, role, collector);
    return;
  }
  // The label is chosen by the author of the request.
  const isBase64 = /;\s*base64\s*$/i.test(head);
  const body = isBase64 && data.includes('%') ? bytesOfPercent(data).toString('latin1') : data;
  const text = decode(body, isBase64);
  const isOtherData = isBase64
    ? text === undefined || !base64.test(body.replace(/\s/g, ''))
    : !isUtf8(bytesOfPercent(data));
  if (isOtherData && (!mediaWithoutText.test(head) || /svg/i.test(head))) collector.unreadable(place);
  if (text !== undefined) collector.takeDecoded('files', text, place, role);
  const plain = dataUrl.exec(written)?.[2] ?? data;
  if (isBase64 && !base64.test(body)) {
    // The value is judged as it is written, because some programs use it in this form.
    collector.take('files', node, place, role, 'long');
    takeUnescaped(plain, place, role, collector);
  } else if (!isBase64 && plain !== data) collector.takeDecoded('files', decode(plain, false) ?? '', place, role);
  if (!dataHead.test(head)) collector.takeDecoded('files', head, place, role);
}

/** An address without encodings that hide words in it: percent-encoding, and in a web address tabs and line ends. */
function takeUnescaped(written: string, place: string, role: string, collector: TextCollector): void {
  const address = isWebAddress(written) ? written.replace(breaks, '') : written;
  const text = address.includes('%') ? (decode(address, false) ?? address) : address;
  if (text !== written) collector.takeDecoded('files', text, place, role);
}

/** The text of the data of a file: base64 without a label, or an address, such as a `data:` URL. */
export function readFileData(node: JsonNode, place: string, role: string, collector: TextCollector): void {
  const text = textInBase64(node);
  if (node.kind !== 'string' || text === 'not base64') {
    readAddress(node, place, role, collector);
    return;
  }
  if (text === undefined) collector.unreadable(place);
  else collector.takeDecoded('files', text, place, role);
  // A short word is valid base64, too. Masking the word would damage other data.
  if (node.value.length <= longestWord) collector.takeDecoded('files', node.value, place, role);
}

/** @returns undefined when data in base64 is not text in UTF-8; other data is text around each byte that is not */
function decode(data: string, isBase64: boolean): string | undefined {
  if (!isBase64) return bytesOfPercent(data).toString('utf8');
  const bytes = Buffer.from(data, 'base64');
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return bytes.toString('utf8');
}

/** The bytes of a percent-encoded text. */
function bytesOfPercent(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  const plain = bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(plain, 'latin1');
}
