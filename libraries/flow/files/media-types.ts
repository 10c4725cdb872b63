import { parseStrict } from '#kit/json/parse-strict';

/** Maximum number of values of a JSON file: its check takes many times the bytes of each of them. */
const mostJsonValues = 1_000_000;

type ContentCheck = (bytes: Buffer) => boolean;

const beginsWith =
  (...starts: readonly (string | readonly number[])[]): ContentCheck =>
  (bytes) =>
    starts.some((start) => {
      const expected = typeof start === 'string' ? Buffer.from(start, 'latin1') : Buffer.from(start);
      return bytes.subarray(0, expected.length).equals(expected);
    });

const isText: ContentCheck = (bytes) => textOf(bytes) !== undefined;
const zip = beginsWith([0x50, 0x4b, 0x03, 0x04]);

/** The media types that files can have, each with the check of its content (`fileref:adapter:media-type-checked`). */
const contentChecks: Readonly<Record<string, ContentCheck>> = {
  'text/plain': isText,
  'text/markdown': isText,
  'text/csv': isText,
  'text/html': isText,
  'application/json': isJson,
  'application/pdf': beginsWith('%PDF-'),
  'image/png': beginsWith([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  'image/jpeg': beginsWith([0xff, 0xd8, 0xff]),
  'image/gif': beginsWith('GIF87a', 'GIF89a'),
  'image/webp': (bytes) => beginsWith('RIFF')(bytes) && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': zip,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': zip,
};

export const knownMediaTypes: readonly string[] = Object.keys(contentChecks);

/** Whether the content is of the media type, as far as its first bytes or its encoding show. */
export function hasMediaType(bytes: Buffer, mediaType: string): boolean {
  return Object.hasOwn(contentChecks, mediaType) && contentChecks[mediaType]?.(bytes) === true;
}

/** Whether file nodes with `use: text` can read files of the media type. */
export function hasText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** The text of a file; undefined if the media type has no text form or the bytes are not UTF-8. */
export function fileText(bytes: Buffer, mediaType: string): string | undefined {
  return hasText(mediaType) ? textOf(bytes) : undefined;
}

function textOf(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    parseStrict(bytes, { maxValues: mostJsonValues });
    return true;
  } catch {
    return false;
  }
}
