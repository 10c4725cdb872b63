import { createCheckClient } from '#checks/client';
import { confirmerName } from '#identity/mcp-confirmers';
import type { TokenFile } from '#kit/http/token-file';
import { describeFailure } from '#kit/log/describe-failure';
import { systemClock } from '#kit/time/clock';
import { noSpans } from '#kit/trace/span';
import { buildServer } from './build-server.ts';
import type { Capability } from './bundle/capabilities.ts';
import type { LoadedAgent } from './bundle/load-agent.ts';
import type { CallFiles } from './files/call-files.ts';
import { refuseFiles } from './files/refuse-files.ts';
import { RunGrants } from './grants/run-grants.ts';
import type { createHandler } from './http/create-handler.ts';
import { RunRing } from './monitoring/run-ring.ts';
import { createFlowPorts } from './ports/flow-ports.ts';
import { loadBuiltinAgent, loadBuiltinFileAgent } from './selfcheck/builtin-agent.ts';
import { openCheckedFile } from './selfcheck/checked-file.ts';
import { confirmCapabilities, type OnUnconfirmed, selfcheckSubject } from './selfcheck/confirm-capabilities.ts';

/** Creates the handler of this program, as the version will be served. */
type HandlerOf = typeof createHandler;

/**
 * Confirms capabilities with the built-in agents, which call no other service and have no policies. Files are confirmed
 * with a separate agent, because they are enabled for a whole agent.
 */
export async function confirmRequested(
  requested: readonly Capability[],
  handlerOf: HandlerOf,
  onUnconfirmed: OnUnconfirmed,
): Promise<ReadonlySet<Capability>> {
  const modes = requested.filter((capability) => capability !== 'files');
  const confirmed = await confirm(loadBuiltinAgent(), refuseFiles, {
    requested: modes,
    reference: undefined,
    handlerOf,
    onUnconfirmed,
  });
  if (!requested.includes('files')) return confirmed;
  const agent = loadBuiltinFileAgent();
  // A process without a place for temporary files does not have the capability.
  const checked = await openCheckedFile(agent).catch((error: unknown) => {
    onUnconfirmed('files', describeFailure(error));
    return undefined;
  });
  if (checked === undefined) return confirmed;
  await using file = checked;
  const { reference } = file;
  const withFiles = await confirm(agent, file.files, { requested: ['files'], reference, handlerOf, onUnconfirmed });
  return new Set([...confirmed, ...withFiles]);
}

async function confirm(
  agent: LoadedAgent,
  files: CallFiles,
  asked: {
    readonly requested: readonly Capability[];
    readonly reference: unknown;
    readonly handlerOf: HandlerOf;
    readonly onUnconfirmed: OnUnconfirmed;
  },
): Promise<ReadonlySet<Capability>> {
  const { requested, reference, handlerOf, onUnconfirmed } = asked;
  await using checks = createCheckClient({ tokenFile: noToken });
  const policies = { target: () => undefined, judgesWindows: () => false };
  const grants = new RunGrants();
  const ports = createFlowPorts({
    services: noServices,
    modelGatewayTokenFile: undefined,
    checks,
    policies,
    files,
    grants,
  });
  const ring = new RunRing(systemClock, () => undefined);
  return await confirmCapabilities({
    requested,
    agent,
    reference,
    onUnconfirmed,
    handlerFor(served, verifier, subject) {
      const server = buildServer({
        agent: served,
        verifier,
        confirmed: new Set<Capability>([...requested, 'a2a.message']),
        card: undefined,
        ports,
        files,
        grants,
        checks,
        policies,
        observer: ring,
        runs: ring,
        spans: noSpans,
        mcpConfirmers: [confirmerName({ ...selfcheckSubject, subject })],
        clock: systemClock,
        unwatchedMs: 1_000,
      });
      return handlerOf({
        served: () => ({ kind: 'ready', server }),
        passingProblems: () => [],
        spans: noSpans,
        onEnded: () => undefined,
      });
    },
  });
}

const noServices = {
  identity: 'production',
  modelGateway: undefined,
  agentGateway: undefined,
  retrieval: undefined,
  memory: undefined,
} as const;

/** A token file without tokens, for versions without policies: they send no checks. */
export const noToken: TokenFile = { accepts: () => false, first: () => '' };
