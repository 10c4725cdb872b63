import { importTarget, type Tree } from '../boundaries/tree.ts';

/** Node modules without side effects on the process that loads them. */
const nodeModules = new Set([
  'assert',
  'async_hooks',
  'buffer',
  'crypto',
  'events',
  'fs',
  'fs/promises',
  'os',
  'path',
  'perf_hooks',
  'stream',
  'stream/promises',
  'string_decoder',
  'timers/promises',
  'url',
  'util',
  'zlib',
]);
const packages = new Set(
  'ajv canonicalize commander fast-check jose pino prom-client re2 uuid vitest yaml zod'.split(' '),
);
/** Process-wide state, and mocks that replace a part of it. */
const globalState = /\bvi\.|\bprocess\.(?:chdir|env|exit|exitCode|kill|on|once|stdin)\b|\bglobalThis\b/;

/**
 * Whether a test file and everything that it loads starts no process, opens no socket and changes no global state.
 * Such files share one process, in any order.
 */
export function isPure(tree: Tree, path: string): boolean {
  const reached = new Set([path]);
  for (const file of reached) {
    const source = tree.sources.get(file);
    if (source === undefined) continue;
    if (globalState.test(source.code)) return false;
    for (const { specifier, typeOnly, asUrl } of source.imports) {
      if (typeOnly) continue;
      const target = importTarget(file, specifier);
      // A source that is named by a URL is started as a process or as a worker.
      if (asUrl && specifier.endsWith('.ts')) return false;
      if (asUrl) continue;
      if (target.kind === 'node' && !nodeModules.has(target.name)) return false;
      if (target.kind === 'package' && !packages.has(target.name)) return false;
      if (target.kind === 'file') reached.add(target.path);
    }
  }
  return true;
}
