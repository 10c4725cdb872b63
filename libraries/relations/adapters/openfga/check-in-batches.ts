import type { CheckError, ConsistencyPreference, OpenFgaClient } from '@openfga/sdk';
import { RelationsUnavailableError } from '../../relations-error.ts';
import { tooComplex } from './reach.ts';

type Questions = {
  readonly subject: string;
  readonly relation: string;
  readonly objects: readonly string[];
  readonly claimed: readonly string[];
  /** `granted` where only tuples give the relation. */
  readonly pace: keyof typeof paces;
};

/**
 * Number of checks in one call, and number of concurrent calls. A server with default settings allows 50 checks. A
 * check that follows parents needs many reads, and the server ends a call after 3 seconds.
 */
const paces = {
  granted: { maxBatchSize: 50, maxParallelRequests: 4 },
  implied: { maxBatchSize: 10, maxParallelRequests: 2 },
} as const;

/**
 * The answer of each check, in the order of the objects. A check without an answer fails them all.
 * @throws RelationsModelError too_complex, RelationsUnavailableError
 */
export async function checkInBatches(
  client: Pick<OpenFgaClient, 'batchCheck'>,
  { subject, relation, objects, claimed, pace }: Questions,
  consistency: ConsistencyPreference,
): Promise<readonly boolean[]> {
  if (objects.length === 0) return [];
  const tuples = claimed.map((group) => ({ user: subject, relation: 'member', object: group }));
  const contextualTuples = { tuple_keys: tuples };
  const { result } = await client.batchCheck(
    {
      checks: objects.map((object, at) => ({
        ...{ user: subject, relation, object, correlationId: String(at) },
        ...(tuples.length === 0 ? {} : { contextualTuples }),
      })),
    },
    { consistency, ...paces[pace] },
  );
  const answers = new Map(
    result.map(({ correlationId, allowed, error }) => {
      if (error === undefined) return [correlationId, allowed];
      // The message of the server may name a subject.
      throw isTooComplex(error) ? tooComplex() : new RelationsUnavailableError();
    }),
  );
  return objects.map((_object, at) => {
    const answer = answers.get(String(at));
    if (answer === undefined) throw new RelationsUnavailableError();
    return answer;
  });
}

function isTooComplex({ input_error: code }: CheckError): boolean {
  return code?.toString() === 'authorization_model_resolution_too_complex';
}
