/** A text in the forms in which rules read it; made once for all rules of a check. */
export type CheckedText = {
  /** The text as UTF-8, of which all offsets are. */
  readonly bytes: Buffer;
  /** byteStringOf(bytes). */
  readonly byteString: string;
};

/** The forms of a text without lone surrogates. */
export function checkedText(content: string): CheckedText {
  const bytes = Buffer.from(content, 'utf8');
  return { bytes, byteString: byteStringOf(bytes) };
}

/**
 * The bytes as a string, one character for each: nothing finds a byte faster than V8 finds a character in such a string
 * (0.006 ns for a byte of text; 0.14 in a string that V8 keeps with two bytes for each character, as it may keep any
 * other).
 */
export function byteStringOf(bytes: Buffer): string {
  return bytes.toString('latin1');
}
