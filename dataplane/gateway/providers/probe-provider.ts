import { type ProviderCause, providerCauses, providerProblems } from '#contracts/provider-causes';
import type { ProviderTest } from '#contracts/provider-test';
import { checkConnection } from '#providers/check-connection';
import { readCredentialFile } from '#providers/credential-cause';
import { testProvider } from '#providers/test-provider';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { ProviderProbe } from './watch-providers.ts';

const timeoutMs = 10_000;

/** Tests each step of a call to an upstream, with its credential and the name of its model. No prompt is sent. */
export async function testUpstream(
  { provider: name, endpoint, credential, model }: GatewayRouteSpec['upstream'],
  credentialFile: (name: string) => string,
): Promise<ProviderTest> {
  const found = await testProvider(
    {
      name,
      kind: 'model',
      endpoint,
      enabled: true,
      ...(credential === undefined ? {} : { credential }),
    },
    { timeoutMs, model, ...(credential === undefined ? {} : { credentialFile: credentialFile(credential) }) },
  );
  return { provider: name, ...found, message: withoutPlaces(found) };
}

/**
 * The result is sent to other machines: unlike the message of the command line, its message names no host, path or
 * credential.
 */
function withoutPlaces({ cause, message }: Awaited<ReturnType<typeof testProvider>>): string {
  const known = providerCauses.find((one) => one === cause);
  if (known === undefined) return message;
  const { problem, remedy } = providerProblems[known];
  return `${problem}: ${remedy}.`;
}

/** Causes that only a served request disproves. */
const undecidable: ReadonlySet<ProviderCause> = new Set(['not_found', 'model_not_found', 'invalid_answer']);

/**
 * Tests the credential file and the connection without an HTTP request. After a refused credential the list of models
 * is requested, because only the provider can tell whether a new credential is accepted.
 */
export function createProviderProbe(credentialFile: (name: string) => string): ProviderProbe {
  return async (upstream, cause, stop) => {
    const { provider: name, endpoint, credential } = upstream;
    const path = credential === undefined ? undefined : credentialFile(credential);
    const reading = path === undefined ? undefined : readCredentialFile(path);
    if (reading?.ok === false) return reading.cause;
    if (cause === 'credential_refused') {
      const provider = { name, kind: 'model', endpoint, enabled: true } as const;
      const found = await testProvider(provider, {
        timeoutMs,
        ...(path === undefined ? {} : { credentialFile: path }),
      });
      switch (found.cause) {
        case undefined:
          return 'reachable';
        case 'status':
        case 'wrong_model':
          return 'undecided';
        default:
          return undecidable.has(found.cause) ? 'undecided' : found.cause;
      }
    }
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const { failed } = await checkConnection(new URL(endpoint), signal);
    if (failed !== undefined) return failed.cause;
    return cause !== undefined && undecidable.has(cause) ? 'undecided' : 'reachable';
  };
}
