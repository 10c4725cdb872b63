import { z } from 'zod';

/** A number that may be Infinity: JSON has no Infinity, so that it is written as null. */
const count = z
  .number()
  .nonnegative()
  .nullable()
  .transform((given) => given ?? Number.POSITIVE_INFINITY);
const bytes = z.number().nonnegative();
const probe = { distance: count, scanned: count, overlap: count, memoryBytes: bytes };

const firing = z.discriminatedUnion('plan', [
  z.strictObject({ plan: z.literal('set'), memoryBytes: bytes }),
  z.strictObject({ plan: z.literal('probe'), ...probe }),
  z.strictObject({ plan: z.literal('unbounded-set'), ranges: count }),
]);

const search = z.strictObject({
  memoryBytes: bytes,
  readsTwiceAtMost: z.boolean(),
  buildAllNs: bytes,
  buildMostNs: bytes,
});

const listing = z
  .strictObject({ probe: z.strictObject(probe).optional(), search: search.optional() })
  .transform((given) => ({ probe: given.probe, search: given.search }));

/** Null means that the common automaton is too large. */
const joint = z.number().nonnegative().nullable();

/** Figures by kind and by the digest of their pattern or list of patterns; the oldest first. */
export const figuresSchema = z.strictObject({
  firing: z.array(z.tuple([z.string(), firing])),
  listing: z.array(z.tuple([z.string(), listing])),
  joint: z.array(z.tuple([z.string(), joint])),
});

export type StoredFigures = z.infer<typeof figuresSchema>;

export const noFigures: StoredFigures = { firing: [], listing: [], joint: [] };
