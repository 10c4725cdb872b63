import { textInBase64 } from './file-texts.ts';
import { isServiceText } from './service-value.ts';

const quote = 0x22;
const backslash = 0x5c;

/**
 * Whether a JSON text has a key or a string that can be text of an author: it neither has the strict form of an API
 * value nor is it base64 of other data, such as a vector. Numbers are not read, and no tree is built, because an answer
 * with embeddings can have 20 MiB.
 * @param json valid JSON, or a part of it that begins and ends outside of a string
 */
export function hasFreeText(json: Buffer): boolean {
  for (let start = json.indexOf(quote); start !== -1; ) {
    const end = endOfString(json, start);
    const value = JSON.parse(json.toString('utf8', start, end)) as string;
    if (!isServiceText(value) && textInBase64({ kind: 'string', value, start, end }) !== undefined) return true;
    start = json.indexOf(quote, end);
  }
  return false;
}

/** The position after the closing quote. */
function endOfString(json: Buffer, start: number): number {
  for (let end = json.indexOf(quote, start + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}
