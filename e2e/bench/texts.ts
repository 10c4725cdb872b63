/**
 * Texts that match no rule of the benchmark: prose in two alphabets, and log lines, which contain digits, capitals and
 * punctuation as the patterns do.
 */
const prose = {
  latin:
    'The harbour master wrote down every ship that came in before noon, what it carried, and who had paid for it. ' +
    'Nobody asked him for the book until the winter in which the granary burned and the town counted its flour. ',
  cyrillic:
    'Смотритель порта записывал каждый корабль, который приходил до полудня, что он вёз и кто за это заплатил. ' +
    'Никто не спрашивал у него книгу до той зимы, когда сгорел амбар и город стал считать свою муку. ',
  log:
    '2026-03-14T09:26:53.589Z INFO gateway[4821]: "POST /v1/orders/71828-9 HTTP/1.1" 200 1,414 B +12 ms, ops@db-3 OK\n' +
    '2026-03-14T09:26:54.002Z WARN worker-7 (KiB=2236, retry 3/5): key sk-1 of code1-B2 is stale; see https://wiki/K+R\n',
} as const;

export type ProseScript = keyof typeof prose;

/** Prose of at most this many bytes, cut between two characters. */
export function proseOf(script: ProseScript, bytes: number): string {
  const text = prose[script];
  const whole = text.repeat(Math.ceil(bytes / Buffer.byteLength(text)));
  return Buffer.from(whole)
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

/** A body of `POST /request` of at most this many bytes with one message. */
export function requestBody(content: string): Buffer {
  return Buffer.from(JSON.stringify({ body: { messages: [{ role: 'user', content }] } }));
}

/** A request body of prose whose total size is about this many bytes. */
export function proseBody(script: ProseScript, bytes: number, mark = ''): Buffer {
  const frame = requestBody('').length;
  const text = prose[script];
  const escaped = (Buffer.byteLength(JSON.stringify(text)) - 2) / Buffer.byteLength(text);
  const half = Math.floor((bytes - frame - Buffer.byteLength(mark)) / escaped / 2) - 1;
  return requestBody(proseOf(script, half) + mark + proseOf(script, half));
}
