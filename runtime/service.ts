import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bundle } from '#contracts/bundle';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger, type Logger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { type Clock, systemClock } from '#kit/time/clock';
import { openSpans } from '#kit/trace/export-spans';
import { connectProviders } from './adapters/providers/connect-providers.ts';
import { BundleError } from './bundle/bundle-error.ts';
import type { AskOf } from './bundle/compile-section.ts';
import { loadBundle } from './bundle/load-bundle.ts';
import { recordProvider } from './check/provider-record.ts';
import { createObservers } from './check/run-observers.ts';
import type { RuntimeConfig, RuntimeSecrets } from './config.ts';
import { type ServedBundle, serveBundle } from './http/runtime-service.ts';
import { serve } from './http/serve.ts';
import { createRuntimeMeters } from './metrics.ts';

/**
 * Maximum number of provider calls of observe rules in flight in one process; a further call counts as an error of its
 * rule.
 */
const observerCap = 64;
/** Maximum number of connections to one provider: every check and every observer call may use one. */
const providerConnections = 512;
/**
 * How long a runtime whose bundle is refused answers 503 before it exits, milliseconds (docs/design/gates.md,
 * Readiness).
 */
const refusalMs = 10_000;
/** Timeout that is longer than the longest stage. */
const drainMs = 6_000;
/**
 * This time is longer than the pause between two checks of a gateway under traffic, so that its connections are seldom
 * closed in use.
 */
const idleMs = 1_000;

type Runtime = AsyncDisposable & {
  readonly url: string;
  /**
   * Resolves when the bundle is loaded. If the bundle is refused, the runtime answers /readyz and checks with 503 for
   * `refusalMs`; then it ends and the promise rejects with the BundleError. An aborted signal ends that time early.
   */
  readonly loaded: (signal: AbortSignal) => Promise<void>;
};

export type RuntimeOverrides = {
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly refusalMs?: number;
  /** How long idle connections stay open during shutdown. */
  readonly idleMs?: number;
};

/**
 * The runtime: listens first, then loads its bundle, once.
 * @throws ListenError, TokenFileError
 */
export async function createRuntime(
  config: RuntimeConfig,
  secrets: RuntimeSecrets,
  overrides: RuntimeOverrides = {},
): Promise<Runtime> {
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger({ service: 'runtime', level: 'info' });
  const metrics = createMetrics({ service: 'runtime' });
  const { meter, tally, providerFailed } = createRuntimeMeters(metrics);
  const resources = new AsyncDisposableStack();
  const stopping = new AbortController();
  const observers = createObservers({ clock, tally, meter, cap: observerCap, signal: stopping.signal });
  let served: ServedBundle | undefined;

  const tokens = openTokenFile(secrets.tokenFile, clock);
  const ports = { clock, tally, observers };
  const spans = openSpans(config.traces, resources, { service: 'portcullis-runtime', logger });
  const service = { served: () => served, tokens, clock, ports, meter, metrics, spans, logger };
  const listening = await serve(config.listen, service);

  function connect(parsed: Bundle): AskOf {
    const { secretsDirectory } = secrets;
    const records = new Map<string, ReturnType<typeof recordProvider>>();
    const noteOf = (name: string): ReturnType<typeof recordProvider> => {
      const record = records.get(name) ?? recordProvider(name, { clock, logger, count: providerFailed });
      records.set(name, record);
      return record;
    };
    const options = { secretsDirectory, connections: providerConnections, clock, noteOf };
    return resources.use(connectProviders(parsed, options)).askOf;
  }

  async function load(): Promise<void> {
    const bundle = await loadBundle(config.bundleFile, connect);
    served = serveBundle(bundle);
    logger.info('bundle_loaded', { digest: bundle.digest, policies: bundle.policies.size });
  }

  async function dispose(): Promise<void> {
    await listening.drain({ graceMs: drainMs, idleMs: overrides.idleMs ?? idleMs });
    stopping.abort();
    await resources.disposeAsync();
  }

  const loading = load();
  loading.catch(() => undefined);
  return {
    url: listening.url,
    async loaded(signal) {
      try {
        await loading;
      } catch (error) {
        await reportRefusal(error, config.terminationMessageFile, logger);
        await pause(overrides.refusalMs ?? refusalMs, undefined, { signal }).catch(() => undefined);
        await dispose();
        throw error;
      }
    },
    [Symbol.asyncDispose]: dispose,
  };
}

/**
 * Reports why the bundle is refused: in the log and, without replacing the file, in the termination message file. Under
 * Kubernetes that file is a separate mount and cannot be replaced by another.
 */
async function reportRefusal(error: unknown, path: string | undefined, logger: Logger): Promise<void> {
  const refusal = error instanceof BundleError ? error : undefined;
  const reason = refusal?.message ?? 'the bundle cannot be loaded for an internal reason';
  logger.error('bundle_refused', { code: refusal?.code ?? 'internal', reason });
  if (path === undefined) return;
  try {
    await writeFile(path, `${reason}\n`);
  } catch (failure) {
    logger.error('termination_message_failed', { error: failure instanceof Error ? failure.name : typeof failure });
  }
}
