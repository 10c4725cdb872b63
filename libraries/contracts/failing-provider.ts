import { z } from 'zod';
import { providerCauses } from './provider-causes.ts';

/** A detector or classifier that did not judge for a rule, and why. */
export const failingProviderSchema = z.strictObject({
  rule: z.string().max(128),
  provider: z.string().max(128),
  cause: z.enum(providerCauses),
});
export type FailingProvider = z.infer<typeof failingProviderSchema>;
