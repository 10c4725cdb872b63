import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoModule } from './go-modules.ts';

const digest = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}\0`).update(part);
  return hash.digest('hex').slice(0, 12);
};

/**
 * The cache key of the sources alone: equal for equal sources, checksums, settings and machine type, whatever the
 * compiler.
 */
export function sourceKey(module: GoModule): string {
  const files = readdirSync(module.folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.go$|^go\.(mod|sum)$/.test(path))
    .sort();
  const contents = files.flatMap((path) => [path, readFileSync(join(module.folder, path))]);
  const { programs, variables, isPlain } = module;
  const form = isPlain === true ? ['plain'] : [];
  const settings = JSON.stringify([programs, variables, process.platform, process.arch, ...form]);
  return digest([settings, ...contents]);
}

/** The cache key of a build. @param compiler the version that `go version` prints */
export function moduleKey(module: GoModule, compiler: string): string {
  return `${sourceKey(module)}-${digest([compiler])}`;
}
