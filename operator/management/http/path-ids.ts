import type { Parameter } from '#api/operation';
import { resourceIdSchema } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';

const uuidv7 = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';

/** A parameter of the path that is a UUID of version 7, in lower case after it is read. */
export function idParameter(name: string, description: string): Parameter<ManagementErrorCode> {
  return {
    name,
    in: 'path',
    description,
    required: true,
    schema: { type: 'string', format: 'uuid', pattern: uuidv7 },
    read: (text) => (resourceIdSchema.safeParse(text).success ? text.toLowerCase() : undefined),
  };
}

export const policyIdParameter = idParameter('policyId', 'The id of the policy, a UUID of version 7.');
export const modelIdParameter = idParameter('modelId', 'The id of the model, a UUID of version 7.');

/**
 * The number of a revision. It has no upper limit: a number above the largest one names a revision that does not exist.
 */
export const revisionNumber = {
  schema: { type: 'integer', minimum: 1 },
  read: (text: string) => (/^[1-9]\d*$/.test(text) ? text : undefined),
};
