// Usage: a child process with an IPC channel. Each message is a LoadJob; the reply is a LoadResult.
import { connect } from 'node:net';

/**
 * Keep-alive connections that send one prepared request repeatedly, each as soon as its previous answer has arrived.
 */
export type LoadJob = {
  readonly port: number;
  /** The whole request, head and body, in base64. */
  readonly request: string;
  readonly connections: number;
  readonly ms: number;
};

export type LoadResult = {
  readonly answers: number;
  readonly seconds: number;
  /** Median latency, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** The first answer, so that the caller can verify that it is the expected answer. */
  readonly first: string;
  /** Number of answers whose length or status differs from the first answer, and of broken connections. */
  readonly odd: number;
};

const endOfHead = Buffer.from('\r\n\r\n');
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');
const lastFrame = Buffer.from('data: [DONE]');
const tailBytes = 64;

/** Length of the complete answer; 0 until its head has arrived; infinite for an answer in chunks. */
function lengthOf(bytes: Buffer): number {
  const head = bytes.indexOf(endOfHead);
  if (head < 0) return 0;
  const text = bytes.toString('latin1', 0, head);
  if (/\r\ntransfer-encoding: chunked/i.test(text)) return Number.POSITIVE_INFINITY;
  const declared = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  return declared === undefined ? 0 : head + endOfHead.length + Number(declared);
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function runJob(job: LoadJob): Promise<LoadResult> {
  const request = Buffer.from(job.request, 'base64');
  const latencies: number[] = [];
  let first = '';
  let odd = 0;
  const start = performance.now();
  const end = start + job.ms;

  function open(): Promise<void> {
    return new Promise((resolve) => {
      let expected = 0;
      let received = 0;
      let sentAt = 0;
      let begun = Buffer.alloc(0);
      let tail = Buffer.alloc(0);
      const buffer = Buffer.allocUnsafe(256 * 1024);

      function send(): void {
        sentAt = performance.now();
        received = 0;
        socket.write(request);
      }
      function onAnswer(): void {
        const now = performance.now();
        latencies.push(now - sentAt);
        if (now < end) send();
        else socket.end();
      }
      function onBytes(count: number): boolean {
        if (expected === 0) {
          begun = Buffer.concat([begun, buffer.subarray(0, count)]);
          expected = lengthOf(begun);
          received = begun.length;
          if (expected === Number.POSITIVE_INFINITY) return onChunks(begun);
          if (expected > 0 && first === '') first = begun.toString('utf8');
        } else {
          // `HTTP/1.1 200`: the digit after the space is the tenth byte.
          if (received === 0 && buffer[9] !== begun[9]) odd += 1;
          received += count;
          if (expected === Number.POSITIVE_INFINITY) {
            const bytes = buffer.subarray(0, count);
            if (first === '') begun = Buffer.concat([begun, bytes]);
            return onChunks(bytes);
          }
        }
        if (expected === 0 || received < expected) return true;
        if (received > expected) odd += 1;
        onAnswer();
        return true;
      }

      /** An answer in chunks ends with the chunk of length 0; a stream without its last frame is odd. */
      function onChunks(bytes: Buffer): boolean {
        tail = Buffer.concat([tail, bytes.subarray(-tailBytes)]).subarray(-tailBytes);
        if (!tail.subarray(-endOfChunks.length).equals(endOfChunks)) return true;
        if (!tail.includes(lastFrame)) odd += 1;
        tail = tail.subarray(0, 0);
        if (first === '') first = begun.toString('utf8');
        onAnswer();
        return true;
      }

      const socket = connect({
        port: job.port,
        host: '127.0.0.1',
        noDelay: true,
        onread: { buffer, callback: onBytes },
      });
      socket.on('connect', send);
      socket.on('error', () => {
        odd += 1;
      });
      socket.on('close', () => resolve());
    });
  }

  await Promise.all(Array.from({ length: job.connections }, open));
  const sorted = Float64Array.from(latencies).sort();
  return {
    answers: sorted.length,
    seconds: (performance.now() - start) / 1_000,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    first,
    odd,
  };
}

process.on('message', (job: LoadJob) => {
  void runJob(job).then((result) => process.send?.(result));
});
