/** `data` is never overwritten, but may be a view of the memory of the reader: who keeps it for longer copies it. */
export type SseDataEvent = { readonly kind: 'data'; readonly name: string; readonly data: Buffer };

/** One server-sent event. The text of a comment is not kept, because it is never relayed. */
export type SseEvent = SseDataEvent | { readonly kind: 'comment' } | { readonly kind: 'too_large' };

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const dataField = Buffer.from('data:');

/** The largest empty buffer that is kept. */
const maxIdleBytes = 262_144;

/**
 * Reads server-sent events from bytes, however they are split (HTML standard, "Parsing an event stream"): LF, CR and
 * CRLF end a line, one leading byte order mark is skipped, data lines are joined by LF, an event without data is
 * ignored, and an incomplete last event is discarded. `maxEventBytes` bounds the memory of one event; after a larger
 * event every call of `next` returns `too_large`.
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
  #lineStart = 0;
  /** The first CR at or after `#start`, as far as it was searched; beyond all bytes if there is none. */
  #nextReturn = Number.POSITIVE_INFINITY;
  #atBegin = true;
  #skipLineFeed = false;
  #lines: Buffer[] = [];
  /** How many of the lines are copies; the other lines are views. */
  #copied = 0;
  #eventBytes = 0;
  #name = '';
  #tooLarge = false;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Bytes of memory that the reader has now. */
  get heldBytes(): number {
    return this.#buffer.length + this.#eventBytes;
  }

  /** Appends the next bytes of the stream to the buffer. */
  push(bytes: Uint8Array): void {
    const unread = this.#length - this.#start;
    if (this.#length + bytes.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(4_096, (unread + bytes.length) * 2));
      this.#buffer.copy(grown, 0, this.#start, this.#length);
      this.#buffer = grown;
      this.#scanned -= this.#start;
      this.#nextReturn -= this.#start;
      this.#start = 0;
      this.#length = unread;
    }
    this.#buffer.set(bytes, this.#length);
    const from = this.#length;
    this.#length += bytes.length;
    if (this.#nextReturn === Number.POSITIVE_INFINITY) this.#findReturn(from);
  }

  #findReturn(from: number): void {
    const at = this.#buffer.subarray(0, this.#length).indexOf(carriageReturn, from);
    this.#nextReturn = at === -1 ? Number.POSITIVE_INFINITY : at;
  }

  /** Reads the next event; undefined when more bytes are needed. */
  next(): SseEvent | undefined {
    while (!this.#tooLarge) {
      const end = this.#nextLine();
      if (end === -1) break;
      const event = this.#takeLine(this.#lineStart, end);
      if (event !== undefined) return event;
    }
    if (this.#tooLarge) return { kind: 'too_large' };
    // A line that waits for the rest of its event must not keep more bytes in memory than its own bytes.
    for (; this.#copied < this.#lines.length; this.#copied += 1) {
      this.#lines[this.#copied] = Buffer.from(this.#lines[this.#copied] as Buffer);
    }
    this.#releaseLarge();
    return undefined;
  }

  /** Releases the memory of a large event, so that it is not kept for the small events that follow. */
  #releaseLarge(): void {
    if (this.#start < this.#length || this.#buffer.length <= maxIdleBytes) return;
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    this.#start = 0;
    this.#scanned = 0;
    this.#nextReturn = Number.POSITIVE_INFINITY;
  }

  /** Reads the next line, which begins at `#lineStart`. @returns its end; -1 when more bytes are needed */
  #nextLine(): number {
    if (this.#atBegin && !this.#passByteOrderMark()) return -1;
    if (this.#skipLineFeed && this.#start < this.#length) {
      if (this.#buffer[this.#start] === lineFeed) this.#start += 1;
      this.#skipLineFeed = false;
    }
    const end = this.#lineEnd();
    this.#scanned = end;
    if (end - this.#start + this.#eventBytes > this.#maxEventBytes) this.#tooLarge = true;
    if (this.#tooLarge || end === this.#length) return -1;
    this.#lineStart = this.#start;
    this.#skipLineFeed = this.#buffer[end] === carriageReturn;
    this.#start = end + 1;
    this.#scanned = this.#start;
    return end;
  }

  /** The position of the next line end; the number of bytes if there is no line end. */
  #lineEnd(): number {
    const from = Math.max(this.#start, this.#scanned);
    if (this.#nextReturn < from) this.#findReturn(from);
    // An empty line ends most events.
    if (from < this.#length && this.#buffer[from] === lineFeed) return from;
    const feed = this.#buffer.indexOf(lineFeed, from);
    return Math.min(feed === -1 ? this.#length : feed, this.#nextReturn, this.#length);
  }

  #passByteOrderMark(): boolean {
    const begin = this.#buffer.subarray(0, Math.min(this.#length, byteOrderMark.length));
    if (begin.equals(byteOrderMark)) this.#start = byteOrderMark.length;
    else if (begin.equals(byteOrderMark.subarray(0, begin.length))) return false;
    this.#atBegin = false;
    return true;
  }

  #takeLine(start: number, end: number): SseEvent | undefined {
    if (start === end) return this.#dispatch();
    if (this.#startsData(start, end)) {
      const value = start + dataField.length;
      this.#addLine(this.#buffer.subarray(value < end && this.#buffer[value] === space ? value + 1 : value, end));
      return undefined;
    }
    const line = this.#buffer.subarray(start, end);
    const at = line.indexOf(colon);
    if (at === 0) return { kind: 'comment' };
    const field = (at === -1 ? line : line.subarray(0, at)).toString('latin1');
    const value = at === -1 ? line.subarray(line.length) : line.subarray(line[at + 1] === space ? at + 2 : at + 1);
    if (field === 'data') this.#addLine(value);
    if (field === 'event') this.#name = value.toString('utf8');
    return undefined;
  }

  #startsData(start: number, end: number): boolean {
    if (end - start < dataField.length) return false;
    for (let at = 0; at < dataField.length; at += 1) if (this.#buffer[start + at] !== dataField[at]) return false;
    return true;
  }

  #addLine(value: Buffer): void {
    this.#lines.push(value);
    this.#eventBytes += value.length + 1;
  }

  #dispatch(): SseEvent | undefined {
    const lines = this.#lines;
    const name = this.#name;
    if (lines.length > 0) this.#lines = [];
    this.#copied = 0;
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
