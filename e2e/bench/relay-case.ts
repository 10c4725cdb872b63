import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { clientKey } from '../../dataplane/gateway/testing/start-gateway.ts';
import { testServiceToken } from '../../runtime/testing/start-runtime.ts';
import { startProcess } from '../support/start-process.ts';
import type { GatewaySetup } from './gateway-process.ts';
import { pinOf } from './gateway-world.ts';
import { requestBytes, startLoadClient } from './load.ts';
import { type Compared, comparePairs, type PairOptions, type ServerUnderLoad } from './pairs.ts';
import { benchBundle } from './policies.ts';
import { serveBenchBundle } from './serving.ts';
import { proseOf } from './texts.ts';

export type RelayFigure = {
  readonly answer: 'whole' | 'streamed';
  readonly callers: number;
  /** Calls in a second, medians. */
  readonly perSecond: { readonly relay: number; readonly unguarded: number; readonly guarded: number };
  /** Medians of the ratios within a round. */
  readonly unguardedToRelay: number;
  readonly guardedToUnguarded: number;
};

/** The ratios that are wanted, by the form of the answer. */
export const relayGoals = {
  whole: { unguardedToRelay: 0.9, guardedToUnguarded: 0.6 },
  streamed: { unguardedToRelay: 0.7, guardedToUnguarded: 0.6 },
} as const;

/**
 * Ratios below these limits fail. The limits are far below the goals, because other work on the cores changes a ratio.
 */
export const relayBounds = { guarded: 0.1, unguarded: 0.1 } as const;

/** The rounds of a whole measurement, and of a short measurement. */
export const relayRounds = {
  full: { rounds: 7, windowMs: 600, warmUpMs: 2_500, callers: [1, 16, 64] },
  small: { rounds: 3, windowMs: 250, warmUpMs: 700, callers: [16] },
} as const;

type Options = Omit<PairOptions, 'connections'> & { readonly callers: readonly number[] };

/**
 * Measures the throughput of a gateway with a provider that costs little: without a guard compared with a bare relay of
 * Node, and with a guard compared with the same gateway without a guard. Provider, relay, gateway, runtime and client
 * share the cores of this machine.
 */
export async function measureRelay(
  { callers, ...options }: Options,
  say: (progress: string) => void,
): Promise<readonly RelayFigure[]> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder()).path;
  const load = stack.use(startLoadClient());
  const provider = stack.use(await startProcess({ file: 'e2e/bench/lean-provider.ts', environment: {} }));
  const relay = stack.use(
    await startProcess({ file: 'e2e/bench/bare-relay.ts', args: [provider.url], environment: {} }),
  );
  const rules = benchBundle({ patterns: 8, terms: 1_000 });
  const runtime = stack.use(await serveBenchBundle(rules));
  const setup: GatewaySetup = {
    folder,
    runtimeToken: testServiceToken,
    endpoint: `${provider.url}/v1`,
    models: { unguarded: 'unguarded', guarded: pinOf(rules, runtime.process) },
  };
  writeFileSync(join(folder, 'setup.json'), JSON.stringify(setup));
  const gateway = stack.use(
    await startProcess({ file: 'e2e/bench/gateway-process.ts', args: [join(folder, 'setup.json')], environment: {} }),
  );
  const figures: RelayFigure[] = [];
  for (const answer of ['whole', 'streamed'] as const) {
    const at = (name: string, process: { readonly pid: number; readonly url: string }): ServerUnderLoad => ({
      name,
      pid: process.pid,
      port: Number(new URL(process.url).port),
      request: chatBytes(name === 'guarded' ? 'guarded' : 'unguarded', answer === 'streamed'),
      expects: answer === 'streamed' ? 'chat.completion.chunk' : 'harbour',
    });
    for (const connections of callers) {
      const compared = await comparePairs(
        load,
        at('unguarded', gateway),
        [at('relay', relay), at('guarded', gateway)],
        { ...options, connections },
      );
      const figure = figureOf(answer, connections, compared);
      const { perSecond, unguardedToRelay, guardedToUnguarded } = figure;
      say(
        `${answer}, ${connections} callers: relay ${perSecond.relay.toFixed(0)}/s, unguarded ` +
          `${perSecond.unguarded.toFixed(0)}/s (${unguardedToRelay.toFixed(2)}), guarded ` +
          `${perSecond.guarded.toFixed(0)}/s (${guardedToUnguarded.toFixed(2)})`,
      );
      figures.push(figure);
    }
  }
  return figures;
}

function chatBytes(model: string, stream: boolean): string {
  const messages = [{ role: 'user', content: proseOf('latin', 1_024) }];
  const headers = ['authorization', `Bearer ${clientKey}`, 'content-type', 'application/json'];
  return requestBytes('/v1/chat/completions', headers, Buffer.from(JSON.stringify({ model, stream, messages })));
}

function figureOf(answer: RelayFigure['answer'], callers: number, compared: readonly Compared[]): RelayFigure {
  const of = (name: string): Compared => {
    const found = compared.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${name} was not measured`);
    return found;
  };
  return {
    answer,
    callers,
    perSecond: {
      relay: of('relay').median.perSecond,
      unguarded: of('unguarded').median.perSecond,
      guarded: of('guarded').median.perSecond,
    },
    unguardedToRelay: 1 / of('relay').ratio.throughput,
    guardedToUnguarded: of('guarded').ratio.throughput,
  };
}
