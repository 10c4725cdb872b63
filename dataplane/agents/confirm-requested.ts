import { createCheckClient } from '#checks/client';
import type { TokenFile } from '#kit/http/token-file';
import { systemClock } from '#kit/time/clock';
import { buildServer } from './build-server.ts';
import type { Capability } from './bundle/capabilities.ts';
import { createHandler } from './http/create-handler.ts';
import { createFlowPorts } from './ports/flow-ports.ts';
import { loadBuiltinAgent } from './selfcheck/builtin-agent.ts';
import { confirmCapabilities } from './selfcheck/confirm-capabilities.ts';

/** Confirms capabilities with the built-in agent, which calls no other service and has no policies. */
export async function confirmRequested(requested: readonly Capability[]): Promise<ReadonlySet<Capability>> {
  await using checks = createCheckClient({ tokenFile: noToken });
  const policies = { target: () => undefined };
  const ports = createFlowPorts({ modelGateway: undefined, modelGatewayTokenFile: undefined, checks, policies });
  const observer = { started: () => undefined, event: () => undefined, ended: () => undefined };
  return await confirmCapabilities({
    requested,
    agent: loadBuiltinAgent(),
    handlerFor(agent, verifier, subject) {
      const server = buildServer({
        agent,
        verifier,
        confirmed: new Set(requested),
        card: undefined,
        ports,
        checks,
        policies,
        observer,
        mcpConfirmers: [subject],
        clock: systemClock,
        unwatchedMs: 1_000,
      });
      return createHandler({ served: () => ({ kind: 'ready', server }), onEnded: () => undefined });
    },
  });
}

/** A token file without tokens, for versions without policies: they send no checks. */
export const noToken: TokenFile = { accepts: () => false, first: () => '' };
