import { z } from 'zod';
import { networkSchema } from '#environment/network-schema';
import { parseS3Address } from './s3-address.ts';

const prefix = z.string().transform((text, context) => {
  const address = parseS3Address(text);
  if (address !== undefined && (address.key === '' || address.key.endsWith('/'))) return address;
  context.addIssue('must be s3://bucket/ or s3://bucket/folder/, with a slash at its end');
  return z.NEVER;
});

/** The file of approved sources, which content_ref may refer to. */
export const contentSources = z.strictObject({
  /** Folders in S3 that documents may refer to, by tenant; a tenant that is not listed may use none. */
  s3: z.record(z.string().min(1), z.array(prefix)).default({}),
  /**
   * Private networks that an https address of every tenant may be in; the public internet needs no entry. From the end
   * of its job a caller with the right to write learns whether a host in these networks answers.
   */
  allowedNetworks: z.array(networkSchema).default([]),
  /** Private networks that an https address of one tenant may be in, by tenant. */
  tenantNetworks: z.record(z.string().min(1), z.array(networkSchema)).default({}),
});

export type ContentSources = z.output<typeof contentSources>;
