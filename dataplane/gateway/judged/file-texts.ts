import { isUtf8 } from 'node:buffer';
import type { JsonNode } from '#kit/json/parse-tree';
import type { TextCollector } from './covered-texts.ts';

/** Media that hold no text: a check has nothing to read in them. */
const mediaWithoutText = /^(?:image|audio|video)\//i;
const dataUrl = /^data:([^,]*),(.*)$/is;

/**
 * The texts of the attachments in the parts of a message: addresses, names, and text in `data:` URLs. Images, audio and
 * video have no text. Another document in base64 cannot be read, so that it counts as text that is not judged.
 */
export function readFileTexts(content: JsonNode, place: string, role: string, collector: TextCollector): void {
  if (content.kind !== 'array') return;
  for (const [index, part] of content.items.entries()) {
    if (part.kind === 'object') readPart(part, `${place}[${index}]`, role, collector);
  }
}

/** Members of a part whose texts the contract judges, or that hold none. */
const ownMembers: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'input_audio']);

function readPart(
  part: JsonNode & { readonly kind: 'object' },
  place: string,
  role: string,
  collector: TextCollector,
): void {
  for (const { key, value } of part.members) {
    if (ownMembers.has(key)) continue;
    if (key !== 'image_url' && key !== 'file') collector.take('parameters', value, place, role, true);
    else if (value.kind !== 'object') collector.take('files', value, `${place}.${key}`, role, false);
    else {
      for (const member of value.members) {
        const isAddress = member.key === 'url' || member.key === 'file_data';
        if (isAddress) readAddress(member.value, `${place}.${key}`, role, collector);
        else collector.take('files', member.value, `${place}.${key}`, role, false);
      }
    }
  }
}

/** The text of an address of a file: that in a `data:` URL, or the address. */
export function readAddress(node: JsonNode, place: string, role: string, collector: TextCollector): void {
  const [, head, data] = node.kind === 'string' ? (dataUrl.exec(node.value) ?? []) : [];
  if (head === undefined || data === undefined) {
    collector.take('files', node, place, role, false);
    return;
  }
  const type = head.split(';')[0] ?? '';
  if (mediaWithoutText.test(type) && !/svg/i.test(type)) return;
  const text = decode(data, /;\s*base64\s*$/i.test(head));
  if (text === undefined) collector.unreadable(place);
  else collector.takeDecoded('files', text, place, role);
}

/** @returns undefined when the data is not text in UTF-8 */
function decode(data: string, base64: boolean): string | undefined {
  const bytes = Buffer.from(base64 ? data : unescapePercent(data), base64 ? 'base64' : 'latin1');
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return bytes.toString('utf8');
}

/** The bytes of a percent-encoded text, each as one character. */
function unescapePercent(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return bytes.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
