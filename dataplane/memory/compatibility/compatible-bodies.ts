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

/** Converts the body of POST /v3/memories/search/; `output_format` has one value in use. */
export const compatibleSearchSchema = z
  .strictObject({
    query: searchMemoriesSchema.shape.query,
    filters: z.unknown().optional(),
    top_k: searchMemoriesSchema.shape.top_k,
    output_format: z.string().max(16).optional(),
    rerank: z.literal(false).optional(),
  })
  .transform(({ output_format: _format, rerank: _rerank, ...search }) => search);

const scope = z.strictObject({
  user_id: z.string().optional(),
  agent_id: z.string().optional(),
  run_id: z.string().optional(),
});

/** Converts the body of POST /v3/memories/: filters that name a scope, also joined by AND. */
export const compatibleListSchema = z.strictObject({
  filters: z
    .union([
      scope,
      z
        .strictObject({ AND: z.array(scope).min(1).max(3) })
        .transform(({ AND: parts }): z.output<typeof scope> => Object.assign({}, ...parts)),
    ])
    .optional(),
});
