import type { Reply } from './converse.ts';
import { judgeAnswer } from './judge-answer.ts';
import type { Batch, Sent } from './make-batches.ts';
import { type MutationKind, mutationKinds } from './make-request.ts';
import type { WireResponse } from './read-answer.ts';
import type { Expected } from './reference-runtime.ts';

/** Results up to now. */
export type Tally = {
  /** Judged mutated requests, by kind of mutation. */
  readonly judged: Record<MutationKind, number>;
  /** Number of answers by code, reason and kind of connection end. */
  readonly told: Map<string, number>;
  /** Judged requests that are malformed HTTP or JSON. */
  malformed: number;
  malformedPassed: number;
  outsideContract: number;
  /**
   * Checks that were refused for overload or a deadline, or cancelled by the client, before a decision; these prove
   * nothing. A few occur on a busy machine.
   */
  late: number;
  /** Requests that follow one that closed the connection; they are not counted. */
  unanswered: number;
  /** The first findings, with their round and the bytes that were sent. */
  readonly examples: string[];
};

const shownExamples = 20;

export function emptyTally(): Tally {
  const judged = Object.fromEntries(mutationKinds.map((kind) => [kind, 0])) as Record<MutationKind, number>;
  const counts = { malformed: 0, malformedPassed: 0, outsideContract: 0, late: 0, unanswered: 0 };
  return { judged, told: new Map(), ...counts, examples: [] };
}

export function judgedOf({ judged }: Tally): number {
  return mutationKinds.reduce((sum, kind) => sum + judged[kind], 0);
}

/** One request of a batch, with its expected answer and its position in the batch. */
type Due = { readonly batch: Batch; readonly sent: Sent; readonly expected: Expected; readonly index: number };

/**
 * Judges the answers to requests that were sent together. Requests that follow an answer which closes the connection,
 * or that precede a malformed request, may get no answer and are not counted.
 */
export function judgeReply(tally: Tally, batch: Batch, reply: Reply): void {
  let index = 0;
  for (const sent of batch.sent) {
    for (const expected of sent.foretold.expected) {
      const due = { batch, sent, expected, index };
      const answer = reply.answers[index];
      if (answer === undefined) judgeSilence(tally, due, reply);
      else if (judgeOne(tally, due, answer)) {
        index += 1;
        continue;
      } else countRequest(tally, sent);
      return;
    }
    if (sent.foretold.expected.length > 0) countRequest(tally, sent);
  }
  if (reply.rest > 0 || reply.broken !== undefined) {
    note(tally, 'outsideContract', reply.broken ?? 'there are more answers than requests', batch);
  }
}

function countRequest(tally: Tally, { kind }: Sent): void {
  if (kind !== 'none') tally.judged[kind] += 1;
}

/** Whether the answer is correct, so that the following answer can be judged too. */
function judgeOne(tally: Tally, due: Due, answer: WireResponse): boolean {
  const judgement = judgeAnswer(answer, due.expected);
  if (due.expected.malformed) tally.malformed += 1;
  switch (judgement.kind) {
    case 'late':
      tally.late += 1;
      count(tally, judgement.told);
      return true;
    case 'good':
      count(tally, judgement.told);
      if (mayEnd(due, answer)) return true;
      note(tally, 'outsideContract', 'the server closed the connection of a valid request', due.batch);
      return false;
    case 'malformed_passed':
      note(tally, 'malformedPassed', judgement.fault, due.batch);
      return false;
    case 'outside_contract':
      note(tally, 'outsideContract', judgement.fault, due.batch);
      return false;
  }
}

/** Whether the answer keeps the connection open, or closes it because of its own request or a later malformed one. */
function mayEnd({ batch, expected, index }: Due, answer: WireResponse): boolean {
  if (answer.headers.get('connection') !== 'close' || expected.mayClose) return true;
  return expectedOf(batch)
    .slice(index + 1)
    .some(({ unreadable }) => unreadable);
}

function expectedOf({ sent }: Batch): readonly Expected[] {
  return sent.flatMap(({ foretold }) => foretold.expected);
}

function judgeSilence(tally: Tally, { batch, sent, expected, index }: Due, reply: Reply): void {
  if (reply.broken !== undefined || reply.stuck) {
    note(tally, 'outsideContract', reply.broken ?? 'no answer came', batch);
    countRequest(tally, sent);
  } else if (reply.answers.at(-1)?.headers.get('connection') === 'close' || (index > 0 && expected.unreadable)) {
    tally.unanswered += 1;
  } else if (expected.told.includes('closed')) {
    count(tally, 'closed');
    if (expected.malformed) tally.malformed += 1;
    countRequest(tally, sent);
  } else if (batch.half) {
    // A client that closes its side early counts as disconnected and its check is cancelled. This is rare, because
    // answers are fast.
    tally.late += 1;
    count(tally, 'cancelled because the client closed first');
  } else {
    note(tally, 'outsideContract', `closed without the expected answer ${expected.told.join(' or ')}`, batch);
    countRequest(tally, sent);
  }
}

/** A running process accepts every connection. */
export function noteRefusedConnection(tally: Tally): void {
  tally.outsideContract += 1;
  tally.examples.push('a connection was refused');
}

function count({ told }: Tally, what: string): void {
  told.set(what, (told.get(what) ?? 0) + 1);
}

function note(tally: Tally, what: 'malformedPassed' | 'outsideContract', fault: string, batch: Batch): void {
  tally[what] += 1;
  if (tally.examples.length >= shownExamples) return;
  const bytes = Buffer.concat(batch.sent.map((one) => one.bytes)).toString('latin1');
  const shown = JSON.stringify(bytes.length > 3_000 ? `${bytes.slice(0, 3_000)}…` : bytes);
  tally.examples.push(`round ${batch.round}: ${fault} for ${shown}`);
}
