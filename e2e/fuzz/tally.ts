import type { Reply } from './converse.ts';
import { judgeAnswer } from './judge-answer.ts';
import { type MadeRequest, type MutationKind, mutationKinds } from './make-request.ts';
import type { Expected, Foretold } from './reference-runtime.ts';

/** A request as it was sent, with what is due. */
export type Sent = MadeRequest & { readonly foretold: Foretold };

/** What was found so far. */
export type Tally = {
  /** Mutated requests that were judged, by kind. */
  readonly judged: Record<MutationKind, number>;
  /** How often each code, reason and way to end was told. */
  readonly told: Map<string, number>;
  /** Judged requests that nobody may act on. */
  malformed: number;
  malformedPassed: number;
  outsideContract: number;
  /** The first of both, with the bytes that were sent. */
  readonly examples: string[];
};

const shownExamples = 20;

export function emptyTally(): Tally {
  const judged = Object.fromEntries(mutationKinds.map((kind) => [kind, 0])) as Record<MutationKind, number>;
  return { judged, told: new Map(), malformed: 0, malformedPassed: 0, outsideContract: 0, examples: [] };
}

export function judgedOf({ judged }: Tally): number {
  return mutationKinds.reduce((sum, kind) => sum + judged[kind], 0);
}

/**
 * Judges what came back for some requests that were sent together. What was sent after an answer that announced the end
 * of the connection, or together with a request that broke it, may stay without an answer and counts for nothing.
 */
export function judgeReply(tally: Tally, batch: readonly Sent[], reply: Reply): void {
  let index = 0;
  for (const sent of batch) {
    for (const expected of sent.foretold.expected) {
      if (!judgeNext(tally, batch, sent, expected, reply, index)) return;
      index += 1;
    }
    if (sent.kind !== 'none' && sent.foretold.expected.length > 0) tally.judged[sent.kind] += 1;
  }
  if (reply.rest > 0) note(tally, 'outsideContract', 'more was answered than was asked', batch);
}

/** Whether the request got its answer, so that the next one can be looked at. */
function judgeNext(
  tally: Tally,
  batch: readonly Sent[],
  sent: Sent,
  expected: Expected,
  reply: Reply,
  index: number,
): boolean {
  const answer = reply.answers[index];
  if (answer === undefined) {
    judgeSilence(tally, batch, sent, expected, reply, index);
    return false;
  }
  const judgement = judgeAnswer(answer, expected);
  if (expected.malformed) tally.malformed += 1;
  switch (judgement.kind) {
    case 'good':
    case 'late':
      count(tally, judgement.told);
      return true;
    case 'malformed_passed':
      note(tally, 'malformedPassed', judgement.fault, [sent]);
      return false;
    case 'outside_contract':
      note(tally, 'outsideContract', judgement.fault, batch.slice(0, batch.indexOf(sent) + 1));
      return false;
  }
}

function judgeSilence(
  tally: Tally,
  batch: readonly Sent[],
  sent: Sent,
  expected: Expected,
  reply: Reply,
  index: number,
): void {
  const announced = reply.answers.at(-1)?.headers.get('connection') === 'close';
  const all = batch.flatMap(({ foretold }) => foretold.expected);
  if (reply.stuck) {
    note(tally, 'outsideContract', 'no answer came', batch);
  } else if (announced || (index > 0 && all.slice(0, index + 1).some(({ unreadable }) => unreadable))) {
    count(tally, 'without an answer');
  } else if (expected.told.includes('closed')) {
    count(tally, 'closed');
    tally.malformed += 1;
    if (sent.kind !== 'none') tally.judged[sent.kind] += 1;
  } else {
    note(tally, 'outsideContract', `closed without the answer ${expected.told.join(' or ')}`, batch);
  }
}

function count({ told }: Tally, what: string): void {
  told.set(what, (told.get(what) ?? 0) + 1);
}

function note(tally: Tally, what: 'malformedPassed' | 'outsideContract', fault: string, sent: readonly Sent[]): void {
  tally[what] += 1;
  if (tally.examples.length >= shownExamples) return;
  const bytes = Buffer.concat(sent.map((one) => one.bytes)).toString('latin1');
  tally.examples.push(`${fault} to ${JSON.stringify(bytes.length > 3_000 ? `${bytes.slice(0, 3_000)}…` : bytes)}`);
}
