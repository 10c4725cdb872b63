import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { PolicyPin } from '../../dataplane/gateway/testing/route-builder.ts';
import { clientKey } from '../../dataplane/gateway/testing/start-gateway.ts';
import { policy, regex, section } from '../../runtime/testing/build-bundle.ts';
import { testServiceToken } from '../../runtime/testing/start-runtime.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import type { GatewaySetup } from './gateway-process.ts';
import { benchBundle } from './policies.ts';
import { serveBenchBundle } from './serving.ts';

/**
 * A gateway that forwards to an echo provider, with the same model four times, each with a larger part of the guard:
 * none; checks that a server passes without reading them; a runtime with one pattern; a runtime with the usual rules.
 */
export const guards = ['none', 'idle', 'one pattern', 'usual'] as const;
export type Guard = (typeof guards)[number];

export type GatewayWorld = AsyncDisposable & {
  readonly url: string;
  readonly key: string;
  readonly gateway: RunningProcess;
  /** The server that answers the checks of a model; undefined for an unguarded model. */
  readonly judge: Readonly<Record<Guard, RunningProcess | undefined>>;
};

const usual = benchBundle({ patterns: 8, terms: 1_000 });
/** The engine skips a pattern with a literal prefix quickly in texts that do not contain the prefix. */
const onePattern = { ...usual, policies: [policy(section([regex('key', 'AKIA[0-9A-Z]{16}')]))] };

export async function startGatewayWorld(): Promise<GatewayWorld> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder()).path;
  const echo = stack.use(
    await startProcess({
      file: 'dataplane/echo/main.ts',
      environment: { PORTCULLIS_LISTEN: '127.0.0.1:0', PORTCULLIS_ECHO_CHUNK_DELAY_MS: '0' },
    }),
  );
  const idle = stack.use(await startProcess({ file: 'e2e/bench/idle-runtime.ts', environment: {} }));
  const light = stack.use(await serveBenchBundle(onePattern));
  const full = stack.use(await serveBenchBundle(usual));
  const judge = { none: undefined, idle, 'one pattern': light.process, usual: full.process };
  const setup: GatewaySetup = {
    folder,
    runtimeToken: testServiceToken,
    endpoint: `${echo.url}/v1`,
    models: {
      none: 'unguarded',
      idle: pinOf(usual, idle),
      'one pattern': pinOf(onePattern, light.process),
      usual: pinOf(usual, full.process),
    },
  };
  writeFileSync(join(folder, 'setup.json'), JSON.stringify(setup));
  const gateway = stack.use(
    await startProcess({ file: 'e2e/bench/gateway-process.ts', args: [join(folder, 'setup.json')], environment: {} }),
  );
  const owned = stack.move();
  return { url: gateway.url, key: clientKey, gateway, judge, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export function pinOf(bundle: Bundle, { url }: RunningProcess): PolicyPin {
  const [first] = bundle.policies;
  if (first === undefined) throw new Error('a bundle holds a policy');
  return { policyId: first.id, policyRevision: first.revision, digest: digestOf(bundle), addresses: [url] };
}
