import { z } from 'zod';
import { searchMemoriesSchema } from '#contracts/memory';

/**
 * Converts the body of POST /v3/memories/add/: a single text becomes a message of the user, and an expiration date
 * without a time is the end of that day.
 */
export const compatibleAddSchema = z
  .looseObject({
    messages: z.union([
      z
        .string()
        .min(1)
        .transform((content) => [{ role: 'user', content }]),
      z.array(z.unknown()),
    ]),
    expiration_date: z.union([z.iso.date(), z.iso.datetime({ offset: true })]).optional(),
  })
  .transform(({ expiration_date: date, ...rest }) => ({
    ...rest,
    ...(date === undefined ? {} : { expires_at: date.length === 10 ? `${date}T23:59:59Z` : date }),
  }));

/** The run of memories for which a client names only the user: every memory has a scope. */
export const unnamedRun = 'default';

/** Converts the body of POST /v3/memories/search/; clients use only one value of `output_format`. */
export const compatibleSearchSchema = z
  .strictObject({
    query: searchMemoriesSchema.shape.query,
    filters: z.unknown().optional(),
    top_k: searchMemoriesSchema.shape.top_k,
    output_format: z.string().max(16).optional(),
    rerank: z.literal(false).optional(),
  })
  .transform(({ output_format: _format, rerank: _rerank, ...search }) => search);

/** A name that is compared with others as a whole; the sign for "any" is no name. */
const name = z
  .string()
  .refine((text) => text !== '*', { error: 'must be a name: "*" is not supported here' })
  .optional();
const scope = z.strictObject({ user_id: name, agent_id: name, run_id: name });
type ListScope = z.output<typeof scope>;
const scopeNames = ['user_id', 'agent_id', 'run_id'] as const;

/** Parts that are joined by AND may repeat a member only with the same value. */
const joinedScope = z
  .strictObject({ AND: z.array(scope).min(1).max(3) })
  .refine(({ AND: parts }) => scopeNames.every((one) => new Set(parts.flatMap((part) => part[one] ?? [])).size <= 1), {
    error: 'must not name two values for the same member',
  })
  .transform(({ AND: parts }): ListScope => Object.assign({}, ...parts));

/** Converts the body of POST /v3/memories/: filters that name a scope, also joined by AND. */
export const compatibleListSchema = z.strictObject({ filters: z.union([scope, joinedScope]).optional() });
