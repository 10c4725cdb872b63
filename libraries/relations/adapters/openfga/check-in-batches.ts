import type { CheckError, ConsistencyPreference, OpenFgaClient } from '@openfga/sdk';
import { RelationsUnavailableError } from '../../relations-error.ts';
import { tooComplex } from './reach.ts';

type Questions = {
  readonly subject: string;
  readonly relation: string;
  readonly objects: readonly string[];
  readonly claimed: readonly string[];
};

/** Checks of one call: the limit of a server with default settings. */
const batchSize = 50;
const batchesAtOnce = 4;

/**
 * The answer of each check, in the order of the objects. A check without an answer fails them all.
 * @throws RelationsModelError too_complex, RelationsUnavailableError
 */
export async function checkInBatches(
  client: Pick<OpenFgaClient, 'batchCheck'>,
  { subject, relation, objects, claimed }: Questions,
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
    { consistency, maxBatchSize: batchSize, maxParallelRequests: batchesAtOnce },
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
