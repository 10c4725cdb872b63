/** The value of a JSON text; undefined for any other text. Where clients could disagree about the text, use `parseStrict`. */
export function jsonOrUndefined(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

/** Parses bytes, which must be valid UTF-8; undefined if they are not JSON. */
export function utf8JsonOrUndefined(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
