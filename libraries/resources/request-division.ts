import { z } from 'zod';

/** Whether long texts of requests can be checked in overlapping pieces, or the rule or limit that forbids it. */
export const requestDivisionSchema = z.discriminatedUnion('allowed', [
  z.strictObject({
    allowed: z.literal(true).describe('allowed indicates whether long texts of requests can be checked in pieces.'),
  }),
  z.strictObject({
    allowed: z.literal(false).describe('allowed indicates whether long texts of requests can be checked in pieces.'),
    rule: z.string().max(1_024).describe('rule is the rule or limit that forbids it.'),
  }),
]);
