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
  'module',
  'os',
  'path',
  'perf_hooks',
  'stream',
  'stream/consumers',
  'stream/promises',
  'string_decoder',
  'timers/promises',
  'url',
  'util',
  'v8',
  'vm',
  'zlib',
]);
const packages = new Set([
  ...'ajv canonicalize commander fast-check gpt-tokenizer ipaddr.js jose pino prom-client re2 re2js'.split(' '),
  ...'snowball-stemmers unhomoglyph uuid vitest yaml zod'.split(' '),
]);
/** Modules and packages of servers and clients; after a test file they leave nothing except idle connections. */
const socketModules = new Set(['http', 'http2', 'https', 'net', 'tls']);
const socketPackages = new Set([
  '@hono/node-server',
  '@kubernetes/client-node',
  'hono',
  'openai',
  'postgres',
  'undici',
]);
/** Process-wide state, measurements of the whole process, and mocks that replace a part of it. */
const globalState = new RegExp(
  [
    /\bvi\.|\bglobalThis\b|\bprocess\.(?:chdir|exit|exitCode|kill|memoryUsage|on|once|stdin)\b/,
    /\bprocess\.env(?:\.\w+|\[[^\]]*\])\s*(?:\?\?)?=(?!=)|\bdelete process\.env\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/**
 * Whether a test file and everything that it loads starts no process and no worker, and changes no global state. The
 * file may open sockets only if `withSockets` is true. Such files share one process, in any order.
 */
export function isPure(tree: Tree, path: string, withSockets: boolean): boolean {
  const isAllowed = (name: string, harmless: ReadonlySet<string>, sockets: ReadonlySet<string>): boolean =>
    harmless.has(name) || (withSockets && sockets.has(name));
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
      if (target.kind === 'node' && !isAllowed(target.name, nodeModules, socketModules)) return false;
      if (target.kind === 'package' && !isAllowed(target.name, packages, socketPackages)) return false;
      if (target.kind === 'file') reached.add(target.path);
    }
  }
  return true;
}
