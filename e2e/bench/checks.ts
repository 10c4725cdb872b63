import { startLoadClient } from './load.ts';
import { type Compared, comparePairs, type PairOptions, type ServerUnderLoad } from './pairs.ts';
import { benchBundle, denyMark, maskMark } from './policies.ts';
import { serveBenchBundle, serveEcho } from './serving.ts';
import { proseBody } from './texts.ts';

/**
 * Limits of a check of 2 KB compared with an echo of the same request. `wanted` is the goal; `bound` is weaker and leaves room for
 * other work on the cores.
 */
export const checkLimits = {
  pass: { bound: 0.65, wanted: 0.8 },
  mask: { wanted: 0.55 },
  cpu: { wanted: 1.5 },
  p99: { bound: 2, wanted: 1.5 },
} as const;

/** Measures checks of 2 KB that pass, mask and deny against an echo server, and a second echo server as the control. */
export async function measureChecks(options: PairOptions): Promise<readonly Compared[]> {
  await using load = startLoadClient();
  await using echo = await serveEcho();
  await using control = await serveEcho();
  await using runtime = await serveBenchBundle(benchBundle({ patterns: 8, terms: 1_000 }));
  const plain = runtime.request(proseBody('latin', 2_048));
  const at = (server: { readonly process: { readonly pid: number }; readonly port: number }) => ({
    pid: server.process.pid,
    port: server.port,
  });
  const subjects: readonly ServerUnderLoad[] = [
    { name: 'pass', ...at(runtime), request: plain, expects: 'policy_pass' },
    {
      name: 'mask',
      ...at(runtime),
      request: runtime.request(proseBody('latin', 2_048, maskMark)),
      expects: '[removed]',
    },
    {
      name: 'deny',
      ...at(runtime),
      request: runtime.request(proseBody('latin', 2_048, denyMark)),
      expects: 'policy_denied',
    },
    { name: 'control', ...at(control), request: plain, expects: 'harbour' },
  ];
  return await comparePairs(load, { name: 'echo', ...at(echo), request: plain, expects: 'harbour' }, subjects, options);
}
