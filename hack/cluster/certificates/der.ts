/**
 * The subset of DER (ITU-T X.690) that certificates need. Every function returns one complete element: tag, length,
 * content.
 */
export type Der = Buffer<ArrayBuffer>;

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

function element(tag: number, content: Uint8Array): Der {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

export function sequence(...parts: readonly Uint8Array[]): Der {
  return element(0x30, Buffer.concat(parts));
}

/** Encodes members in the given order. A set with one member, as in a distinguished name, needs no sorting. */
export function set(...parts: readonly Uint8Array[]): Der {
  return element(0x31, Buffer.concat(parts));
}

/**
 * Encodes a non-negative integer from its big-endian bytes. A leading zero keeps a high first bit from making it
 * negative.
 */
export function unsignedInteger(bytes: Uint8Array): Der {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  return element(0x02, (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

export function boolean(value: boolean): Der {
  return element(0x01, Buffer.from([value ? 0xff : 0x00]));
}

/** @param unusedBits number of unused bits at the end of the last byte */
export function bitString(bytes: Uint8Array, unusedBits = 0): Der {
  return element(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function octetString(bytes: Uint8Array): Der {
  return element(0x04, bytes);
}

export function utf8String(text: string): Der {
  return element(0x0c, Buffer.from(text, 'utf8'));
}

/** Encodes an object identifier in dotted notation. */
export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const base128 = (value: number): readonly number[] => {
    const digits = [value % 128];
    for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left % 128) | 0x80);
    return digits;
  };
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Encodes a time in whole seconds. Years from 1950 to 2049 are encoded as UTCTime, as RFC 5280 4.1.2.5 demands. */
export function time(date: Date): Der {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  const year = date.getUTCFullYear();
  return year < 2050 ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

/** Wraps whole elements into a context-specific tag. */
export function explicit(tag: number, content: Uint8Array): Der {
  return element(0xa0 | tag, content);
}

/** Replaces the tag of a primitive element by a context-specific tag. */
export function implicit(tag: number, content: Uint8Array): Der {
  return element(0x80 | tag, content);
}
