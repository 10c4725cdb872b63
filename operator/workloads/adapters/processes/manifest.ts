import { z } from 'zod';
import { canonicalBytes } from '#contracts/canonical';
import type { WorkloadRendering } from '../../ports.ts';

const manifestSchema = z.strictObject({
  kind: z.literal('LocalProcess'),
  build: z.string().min(1),
  entry: z.literal('runtime/main.ts'),
  bundle: z.string().regex(/^[0-9a-f]{64}$/),
});
export type ProcessManifest = z.infer<typeof manifestSchema>;

/** Manifest of a local workload: the runtime of this checkout with one bundle. */
export function renderManifest({ digest, build }: WorkloadRendering): string {
  const manifest: ProcessManifest = { kind: 'LocalProcess', build, entry: 'runtime/main.ts', bundle: digest };
  return canonicalBytes(manifest).toString('utf8');
}

/** Parses a manifest; undefined for the manifest of a cluster. */
export function readManifest(text: string): ProcessManifest | undefined {
  try {
    const parsed = manifestSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
