import { startLoadClient } from './load.ts';
import { type Compared, comparePairs, type PairOptions, type ServerUnderLoad } from './pairs.ts';
import { benchBundle, denyMark, maskMark } from './policies.ts';
import { serveBenchBundle, serveEcho } from './serving.ts';
import { proseBody } from './texts.ts';

/** Targets: a check of 2 KB compared with an echo of the same request. */
export const checkBounds = { pass: 0.65, mask: 0.55, cpu: 1.5, p99: 2 } as const;

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
