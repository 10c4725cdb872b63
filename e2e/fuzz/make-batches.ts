import { createRandom, type Random } from '../streaming/random.ts';
import { type MadeRequest, makeRequest } from './make-request.ts';
import { type Foretold, foretell } from './reference-runtime.ts';

/** A request as sent, with the expected answer. */
export type Sent = MadeRequest & { readonly foretold: Foretold };

/** Requests that are sent together over one connection, in one to three writes. */
export type Batch = {
  /** Number of the round that generated it; seed and round suffice to generate it again. */
  readonly round: number;
  readonly sent: readonly Sent[];
  readonly pieces: readonly Buffer[];
  /** Whether the client closes its writing side after the batch. */
  readonly half: boolean;
  /** Whether the connection is used again after the batch, if possible. */
  readonly again: boolean;
};

/** Maximum number of requests in one write; all workers together stay below maxConcurrency of the bundle. */
const longestBatch = 8;

/**
 * The batches of one round: pipelined whole requests, and requests that end their connection, alone or as the last
 * request. The same seed and round always generate the same batches.
 */
export function makeBatches(seed: number, round: number, digest: string): readonly Batch[] {
  const random = createRandom(Math.imul(seed, 0x9e37_79b1) ^ Math.imul(round + 1, 0x85eb_ca6b));
  const whole: Sent[] = [];
  for (let length = random.between(1, longestBatch); whole.length < length; ) {
    const made = makeRequest(random, digest);
    const sent = { ...made, foretold: foretell(made.bytes, digest) };
    if (sent.foretold.end === 'open') {
      whole.push(sent);
      continue;
    }
    if (whole.length === 0 || random.chance(25)) return [batchOf(round, [...whole, sent], random)];
    return [batchOf(round, whole, random), batchOf(round, [sent], random)];
  }
  return [batchOf(round, whole, random)];
}

function batchOf(round: number, sent: readonly Sent[], random: Random): Batch {
  const open = sent.every(({ foretold }) => foretold.end === 'open');
  const waits = sent.some(({ foretold }) => foretold.expected.some(({ told }) => told.includes('closed')));
  const half = waits || random.chance(open ? 2 : 30);
  const pieces = cut(Buffer.concat(sent.map(({ bytes }) => bytes)), random);
  return { round, sent, pieces, half, again: open && !half && random.chance(97) };
}

/**
 * The bytes in the pieces in which they are sent: usually one piece, otherwise two or three, split at random positions.
 */
function cut(bytes: Buffer, random: Random): readonly Buffer[] {
  if (random.chance(90) || bytes.length === 0) return [bytes];
  const [first = 0, second = 0] = [random.below(bytes.length), random.below(bytes.length)].sort((a, b) => a - b);
  return [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)].filter(
    (one) => one.length > 0,
  );
}
