export type SseDataEvent = { readonly kind: 'data'; readonly name: string; readonly data: Buffer };

/** One server-sent event. The text of a comment is not kept, because it is never relayed. */
export type SseEvent = SseDataEvent | { readonly kind: 'comment' } | { readonly kind: 'too_large' };

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads server-sent events from bytes, however they are cut (HTML standard, "Parsing an event stream"): LF, CR and CRLF
 * end a line, one leading byte order mark is skipped, data lines are joined by LF, an event without data is ignored, and
 * an incomplete last event is discarded.
 * `maxEventBytes` bounds the memory of one event; after a larger one every call of `next` returns `too_large`.
 */
export class SseReader {
  readonly #maxEventBytes: number;
  #buffer = Buffer.alloc(0);
  /**
   * The end of the bytes in the buffer, the position of the first unread byte, and the position up to which a line end
   * was searched.
   */
  #length = 0;
  #start = 0;
  #scanned = 0;
  #atBegin = true;
  #skipLineFeed = false;
  #lines: Buffer[] = [];
  #eventBytes = 0;
  #name = '';
  #tooLarge = false;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Appends the next bytes of the stream to the buffer. */
  push(bytes: Uint8Array): void {
    const unread = this.#length - this.#start;
    if (this.#length + bytes.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(4_096, (unread + bytes.length) * 2));
      this.#buffer.copy(grown, 0, this.#start, this.#length);
      this.#buffer = grown;
      this.#scanned -= this.#start;
      this.#start = 0;
      this.#length = unread;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Reads the next event; undefined when more bytes are needed. */
  next(): SseEvent | undefined {
    while (!this.#tooLarge) {
      const line = this.#nextLine();
      if (line === undefined) break;
      const event = this.#takeLine(line);
      if (event !== undefined) return event;
    }
    return this.#tooLarge ? { kind: 'too_large' } : undefined;
  }

  #nextLine(): Buffer | undefined {
    if (this.#atBegin && !this.#passByteOrderMark()) return undefined;
    if (this.#skipLineFeed && this.#start < this.#length) {
      if (this.#buffer[this.#start] === lineFeed) this.#start += 1;
      this.#skipLineFeed = false;
    }
    let end = Math.max(this.#start, this.#scanned);
    while (end < this.#length && this.#buffer[end] !== lineFeed && this.#buffer[end] !== carriageReturn) end += 1;
    this.#scanned = end;
    if (end - this.#start + this.#eventBytes > this.#maxEventBytes) this.#tooLarge = true;
    if (this.#tooLarge || end === this.#length) return undefined;
    const line = this.#buffer.subarray(this.#start, end);
    this.#skipLineFeed = this.#buffer[end] === carriageReturn;
    this.#start = end + 1;
    this.#scanned = this.#start;
    return line;
  }

  #passByteOrderMark(): boolean {
    const begin = this.#buffer.subarray(0, Math.min(this.#length, byteOrderMark.length));
    if (begin.equals(byteOrderMark)) this.#start = byteOrderMark.length;
    else if (begin.equals(byteOrderMark.subarray(0, begin.length))) return false;
    this.#atBegin = false;
    return true;
  }

  #takeLine(line: Buffer): SseEvent | undefined {
    if (line.length === 0) return this.#dispatch();
    const at = line.indexOf(colon);
    if (at === 0) return { kind: 'comment' };
    const field = (at === -1 ? line : line.subarray(0, at)).toString('latin1');
    const value = at === -1 ? line.subarray(line.length) : line.subarray(line[at + 1] === space ? at + 2 : at + 1);
    if (field === 'data') {
      this.#lines.push(Buffer.from(value));
      this.#eventBytes += value.length + 1;
    }
    if (field === 'event') this.#name = value.toString('utf8');
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const lines = this.#lines;
    const name = this.#name;
    this.#lines = [];
    this.#name = '';
    this.#eventBytes = 0;
    if (lines.length === 0) return undefined;
    return { kind: 'data', name, data: joinLines(lines) };
  }
}

function joinLines(lines: readonly Buffer[]): Buffer {
  const [first] = lines;
  if (lines.length === 1 && first !== undefined) return first;
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])));
}
