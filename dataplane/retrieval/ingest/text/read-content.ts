import { retrievalLimits } from '#contracts/retrieval';
import type { JsonValue } from '#kit/json/json-value';
import type { DocumentContent, JsonObject } from './document-content.ts';

/** `path` is a JSON Pointer from the content, empty for the content itself. */
type ContentReading =
  | { readonly kind: 'content'; readonly content: DocumentContent }
  | { readonly kind: 'fault'; readonly path: string; readonly message: string };

type ContentFault = Extract<ContentReading, { kind: 'fault' }>;

/**
 * Checks the `content` of a canonical document (`retrieval:content:*`); names the first fault and its path.
 * @param mostSections infinite for a stored text, in which each table and each other member has become a section
 */
export function readContent(
  value: JsonValue | undefined,
  mostSections: number = retrievalLimits.sections,
): ContentReading {
  if (!isObject(value)) return fault('', 'must be an object');
  const found =
    titleFault(value['title']) ??
    listFault('/sections', value['sections'], mostSections, sectionFault) ??
    listFault('/tables', value['tables'], retrievalLimits.tables, () => undefined);
  return found ?? { kind: 'content', content: value as DocumentContent };
}

function titleFault(title: JsonValue | undefined): ContentFault | undefined {
  return title === undefined || typeof title === 'string' ? undefined : fault('/title', 'must be a string');
}

function listFault(
  path: string,
  list: JsonValue | undefined,
  most: number,
  itemFault: (item: JsonObject, path: string) => ContentFault | undefined,
): ContentFault | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) return fault(path, 'must be an array of objects');
  if (list.length > most) return fault(path, `must have at most ${most} elements`);
  for (const [at, item] of list.entries()) {
    const place = `${path}/${at}`;
    const found = isObject(item) ? itemFault(item, place) : fault(place, 'must be an object');
    if (found !== undefined) return found;
  }
  return undefined;
}

function sectionFault(section: JsonObject, path: string): ContentFault | undefined {
  if (typeof section['text'] !== 'string') return fault(`${path}/text`, 'must be a string');
  const { heading } = section;
  if (heading !== undefined && typeof heading !== 'string') return fault(`${path}/heading`, 'must be a string');
  const extra = Object.keys(section).find((key) => key !== 'text' && key !== 'heading');
  // The message does not contain the key, because it is text of the submitter.
  return extra === undefined ? undefined : fault(path, 'must have no keys besides text and heading');
}

function fault(path: string, message: string): ContentFault {
  return { kind: 'fault', path, message };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
