/**
 * The declared character set of an HTML file; browsers read the first 1,024 bytes as well (HTML standard, 13.2.3.2).
 */
const declared = /<meta[^>]{0,200}charset\s{0,8}=\s{0,8}["']?\s{0,8}([\w-]{1,40})/i;

/**
 * The bytes as text: by their byte order mark, else by the character set that an HTML file declares, else UTF-8.
 * @returns undefined for bytes that are not valid in that encoding, and for text with control characters of binary files
 */
export function decodeText(bytes: Uint8Array, kind: 'html' | 'text'): string | undefined {
  const label = byteOrderMark(bytes) ?? (kind === 'html' ? declaredIn(bytes) : undefined) ?? 'utf-8';
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes);
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}

function byteOrderMark([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}

function declaredIn(bytes: Uint8Array): string | undefined {
  return declared.exec(Buffer.from(bytes.subarray(0, 1_024)).toString('latin1'))?.[1];
}
