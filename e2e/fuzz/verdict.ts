import { mutationKinds } from './make-request.ts';
import type { FuzzReport } from './run-fuzz.ts';
import { judgedOf } from './tally.ts';

type Bounds = {
  /** Minimum number of judged requests. */
  readonly requests: number;
  /** Resident memory at the end, as a multiple of the level after the warm-up. */
  readonly growth: number;
};

/** The smallest share of each kind of mutation among all mutations. */
const leastShare = 0.15;
/** Maximum share of checks refused for overload or a deadline, whose results prove nothing. */
const mostLate = 0.001;
/** Maximum share of requests sent after a request that closed its connection. */
const mostUnanswered = 0.1;

/** Reasons why the figure fails; empty when it passes. */
export function verdictOf({ tally, crashed, memory }: FuzzReport, { requests, growth }: Bounds): readonly string[] {
  const judged = judgedOf(tally);
  const rare = mutationKinds.filter((kind) => tally.judged[kind] < leastShare * judged);
  const problems: readonly (readonly [boolean, string])[] = [
    [crashed, 'the process ended or logged an error'],
    [tally.outsideContract > 0, 'answers violate the contract'],
    [tally.malformedPassed > 0, 'malformed requests were answered 200'],
    [judged < requests, 'too few requests'],
    [tally.malformed < leastShare * judged, 'too few malformed requests'],
    [rare.length > 0, `too few mutations of ${rare.join(', ')}`],
    [tally.late > mostLate * judged, 'too many checks refused for overload or a deadline'],
    [tally.unanswered > mostUnanswered * judged, 'too many requests after a closed connection'],
    [
      memory !== undefined && !(memory.after <= growth * memory.before),
      `memory grew by more than the factor ${growth}`,
    ],
  ];
  return problems.flatMap(([is, problem]) => (is ? [problem] : []));
}
