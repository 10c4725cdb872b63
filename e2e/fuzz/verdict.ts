import { mutationKinds } from './make-request.ts';
import type { FuzzReport } from './run-fuzz.ts';
import { judgedOf } from './tally.ts';

type Bounds = {
  /** Changed requests that must have been judged. */
  readonly requests: number;
  /** Resident memory at the end, as a multiple of the level after the warm-up. */
  readonly growth: number;
};

/** Each kind of change makes up a good part of all. */
const leastShare = 0.15;
/** A refusal for time says nothing: more of them would hide what a request should have been answered. */
const mostLate = 0.001;
/** The same for requests sent behind one that closed its connection. */
const mostUnanswered = 0.1;

/** Why the figure does not hold; empty where it holds. */
export function verdictOf({ tally, crashed, memory }: FuzzReport, { requests, growth }: Bounds): readonly string[] {
  const judged = judgedOf(tally);
  const rare = mutationKinds.filter((kind) => tally.judged[kind] < leastShare * judged);
  const problems: readonly (readonly [boolean, string])[] = [
    [crashed, 'the process ended or logged an error'],
    [tally.outsideContract > 0, 'answers outside of the contract'],
    [tally.malformedPassed > 0, 'malformed requests were answered 200'],
    [judged < requests, 'too few requests'],
    [tally.malformed < leastShare * judged, 'too few malformed requests'],
    [rare.length > 0, `too few changes of ${rare.join(', ')}`],
    [tally.late > mostLate * judged, 'too many refused for time'],
    [tally.unanswered > mostUnanswered * judged, 'too many behind a closed connection'],
    [memory !== undefined && !(memory.after <= growth * memory.before), `memory grew beyond ${growth} of its level`],
  ];
  return problems.flatMap(([is, problem]) => (is ? [problem] : []));
}
