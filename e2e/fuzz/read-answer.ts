/** One HTTP answer as received on a connection. */
export type WireResponse = {
  readonly status: number;
  /** Lower-case names without duplicates. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
};

/** The next element in the bytes of a connection. */
type AnswerReading =
  | { readonly kind: 'answer'; readonly answer: WireResponse; readonly rest: Buffer }
  /** `100 Continue`, which is not a final answer. */
  | { readonly kind: 'interim'; readonly rest: Buffer }
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'broken'; readonly fault: string };

const statusLine = /^HTTP\/1\.1 ([1-5][0-9][0-9]) [\t -~]*$/;
const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t -~]*)$/;

/** Parses the next answer strictly: HTTP/1.1, no duplicate header, a decimal length. `head`: the answer has no body. */
export function readAnswer(received: Buffer, head: boolean): AnswerReading {
  const end = received.indexOf('\r\n\r\n', 0, 'latin1');
  if (end < 0) return { kind: 'unfinished' };
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const status = Number(statusLine.exec(first)?.[1]);
  const headers = readHeaders(lines);
  if (Number.isNaN(status) || headers === undefined) return { kind: 'broken', fault: `no HTTP/1.1: ${first}` };
  if (status === 100 && headers.size === 0) return { kind: 'interim', rest: received.subarray(end + 4) };
  const declared = headers.get('content-length') ?? '';
  if (status < 200 || headers.has('transfer-encoding') || !/^[0-9]{1,9}$/.test(declared)) {
    return { kind: 'broken', fault: `the answer has no definite length: ${first}` };
  }
  const next = end + 4 + (head ? 0 : Number(declared));
  if (received.length < next) return { kind: 'unfinished' };
  const answer = { status, headers, body: received.subarray(end + 4, next) };
  return { kind: 'answer', answer, rest: received.subarray(next) };
}

function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = field.exec(line) ?? [];
    if (name === '' || headers.has(name.toLowerCase())) return undefined;
    headers.set(name.toLowerCase(), value.trimEnd());
  }
  return headers;
}
