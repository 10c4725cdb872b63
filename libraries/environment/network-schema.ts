import { z } from 'zod';
import { parseNetwork } from '#kit/net/address-rules';

/** A network in CIDR notation in a file of the environment. */
export const networkSchema = z.string().transform((text, context) => {
  const parsed = parseNetwork(text);
  if (parsed !== undefined) return parsed;
  context.addIssue('must be a network such as 10.1.0.0/16, without bits beyond its prefix');
  return z.NEVER;
});
