import { readFile } from 'node:fs/promises';
import { type CheckClient, createCheckClient } from '#checks/client';
import { noteFailingProviders } from '#checks/failing-providers';
import type { AgentProblem } from '#contracts/agent-state';
import type { FailingProvider } from '#contracts/failing-provider';
import { ConfigError } from '#kit/env/config-error';
import { openTokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import type { Spans } from '#kit/trace/span';
import { buildServer, serveCard } from './build-server.ts';
import { requestedCapabilities } from './bundle/capabilities.ts';
import { type LoadedAgent, loadAgent } from './bundle/load-agent.ts';
import type { AgentConfig, AgentSecrets } from './config.ts';
import { confirmRequested, noToken } from './confirm-requested.ts';
import type { FileTimes } from './files/call-files.ts';
import { openWatchedFiles } from './files/open-files.ts';
import { refuseFiles } from './files/refuse-files.ts';
import { RunGrants } from './grants/run-grants.ts';
import type { Served } from './http/agent-server.ts';
import type { createHandler } from './http/create-handler.ts';
import { type CallVerifier, createHeaderVerifier } from './identity/call-verifier.ts';
import { createTokenVerifier } from './identity/workload-verifier.ts';
import type { RunReader } from './monitoring/run-ring.ts';
import { followPolicies } from './policies/follow-policies.ts';
import { watchMovedPolicies } from './policies/watch-moved-policies.ts';
import { createFlowPorts, type FlowServices, unreachableRequirements } from './ports/flow-ports.ts';
import { type ModelUsage, meterModel } from './ports/meter-model.ts';
import { traceCalls } from './ports/trace-calls.ts';
import type { RunObserver } from './steps/process-call.ts';
import { windowlessPolicy } from './steps/stream-result.ts';

/** The result of loading a bundle file. Disposing it closes everything that serves the version. */
export type PreparedAgent = AsyncDisposable & {
  readonly served: Served;
  /** The loaded agent; undefined if the file does not describe a version. */
  readonly agent: LoadedAgent | undefined;
  /** For each requested capability, by its name: whether the startup check confirmed it. */
  readonly capabilities: Readonly<Record<string, boolean>>;
  /** Whether all reasons for which the version is not served are temporary, so that preparing it again may succeed. */
  readonly mayPass: boolean;
  /** Problems of a served version that can pass. */
  passingProblems(): readonly AgentProblem[];
  /** The detectors and classifiers of the version's policies that return no judgement now. */
  failingProviders(): readonly FailingProvider[];
};

type PrepareOptions = {
  readonly config: AgentConfig;
  readonly secrets: AgentSecrets;
  readonly logger: Logger;
  readonly observer: RunObserver;
  readonly runs: RunReader;
  readonly spans: Spans;
  /** Called with the tokens of each answer of a model. */
  readonly onTokens: (usage: ModelUsage) => void;
  readonly unwatchedMs: number;
  readonly fileTimes?: FileTimes | undefined;
  /** Interval at which a policy that has moved is probed, milliseconds. */
  readonly policyProbeMs?: number | undefined;
  /** Creates the handler that the startup check calls: the handler that serves the version. */
  readonly checkedHandler: typeof createHandler;
};

/** Reads and checks everything that a version needs; a version with a problem is not served (`agents:health:ready`). */
export async function prepareAgent(options: PrepareOptions): Promise<PreparedAgent> {
  await using parts = new AsyncDisposableStack();
  const { config, secrets, logger, observer, runs, spans, onTokens, unwatchedMs } = options;
  const load = await loadFile(config.bundleFile);
  if (!load.ok) return unserved(load.problems);
  const { agent } = load;
  const { implemented, unavailable } = requestedCapabilities(agent.manifest);
  const confirmed = await confirmRequested(implemented, options.checkedHandler, (capability, reason) =>
    logger.error('capability_not_confirmed', { capability, reason }),
  );
  const capabilities = Object.fromEntries([
    ...implemented.map((capability) => [capability, confirmed.has(capability)] as const),
    ...unavailable.map((capability) => [capability, false] as const),
  ]);
  const card = serveCard(agent, confirmed);
  const problems: AgentProblem[] = [
    ...Object.keys(capabilities).flatMap((name) => (capabilities[name] ? [] : [unavailableProblem(name)])),
    ...[...unreachableRequirements(agent, servicesOf(config)), ...missingFilePlace(agent, config)].map(
      (message) => ({ code: 'setting_invalid', message }) as const,
    ),
  ];
  if (card === undefined && confirmed.has('a2a.message')) {
    problems.push({ code: 'card_invalid', message: 'no valid card follows from the manifest and publicUrl' });
  }
  const opened = await openPolicies(agent, config, logger);
  if (!opened.ok) problems.push(...opened.problems);
  const windowless = opened.ok ? windowlessPolicy(agent, opened.policies) : undefined;
  if (windowless !== undefined) problems.push(windowlessProblem(windowless));
  if (!opened.ok || problems.length > 0) {
    if (opened.ok) await opened.policies[Symbol.asyncDispose]();
    const isPassing = ({ code, capability }: AgentProblem): boolean =>
      code === 'policy_invalid' || implemented.some((one) => one === capability);
    // Within one revision it never changes whether a policy judges in windows.
    const mayPass = windowless === undefined && problems.every(isPassing);
    return { ...unserved(problems, agent, capabilities), mayPass };
  }
  const policies = parts.use(opened.policies);
  const { runtimeTokenFile, modelGatewayTokenFile } = secrets;
  const opening = await openFiles(agent, options);
  if (opening !== undefined) parts.use(opening);
  const files = opening?.files ?? refuseFiles;
  const tokenFile = runtimeTokenFile === undefined ? noToken : openTokenFile(runtimeTokenFile);
  const client = parts.use(createCheckClient({ tokenFile, explain: true }));
  const noted = noteFailingProviders(client, systemClock);
  const checks: CheckClient = { ...client, check: noted.check };
  const { moved } = policies;
  const movedPolicies = parts.use(watchMovedPolicies({ moved, checks, everyMs: options.policyProbeMs }));
  const grants = new RunGrants();
  const unmetered = createFlowPorts({
    services: servicesOf(config),
    modelGatewayTokenFile: modelGatewayTokenFile === undefined ? undefined : openTokenFile(modelGatewayTokenFile),
    checks,
    policies,
    files,
    grants,
  });
  const ports = traceCalls({ ...unmetered, model: meterModel(unmetered.model, onTokens) }, spans);
  const { mcpConfirmers } = config;
  const verifier = openVerifier(agent, config, logger);
  const parties = { verifier, ports, files, grants, checks, policies, observer, runs, spans };
  const built = { agent, confirmed, card, ...parties, mcpConfirmers, unwatchedMs };
  const server = buildServer({ ...built, clock: systemClock });
  const owned = parts.move();
  return {
    served: { kind: 'ready', server },
    agent,
    capabilities,
    mayPass: false,
    passingProblems: () => [
      ...(opening?.watch.isAway === true ? [filesAway] : []),
      ...movedPolicies.gone().map(goneProblem),
    ],
    failingProviders: noted.failing,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function loadFile(path: string): Promise<ReturnType<typeof loadAgent>> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes !== undefined) return loadAgent(bytes);
  return { ok: false, problems: [{ code: 'source_invalid', message: 'the bundle cannot be read' }] };
}

function servicesOf({ identity, services }: AgentConfig): FlowServices {
  return { identity: identity.mode, ...services };
}

async function openFiles(agent: LoadedAgent, { config, secrets, logger, fileTimes }: PrepareOptions) {
  const { files: place } = config;
  if (!agent.manifest.files.enabled || place === undefined) return undefined;
  const { fileServiceTokenFile: serviceTokenFile } = secrets;
  return await openWatchedFiles({
    agent,
    place,
    serviceTokenFile,
    logger,
    ...(fileTimes === undefined ? {} : { times: fileTimes }),
  });
}

async function openPolicies({ bundle }: LoadedAgent, { policyTargets: folder }: AgentConfig, logger: Logger) {
  const onRefused = (policy: string): void => logger.warn('policy_target_refused', { policy });
  try {
    return { ok: true, policies: await followPolicies({ folder, bundle, onRefused }) } as const;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      ok: false,
      problems: error.problems.map((message) => ({ code: 'policy_invalid', message }) as const),
    } as const;
  }
}

function openVerifier({ bundle }: LoadedAgent, { identity }: AgentConfig, logger: Logger): CallVerifier {
  if (identity.mode === 'development') return createHeaderVerifier();
  const { agentId, versionId } = bundle;
  const onUnavailable = (): void => logger.warn('gateway_keys_unavailable', {});
  return createTokenVerifier({
    agentId,
    versionId,
    issuer: identity.issuer,
    jwks: identity.keys,
    onUnavailable,
  });
}

function missingFilePlace({ manifest }: LoadedAgent, { files }: AgentConfig): readonly string[] {
  if (!manifest.files.enabled || files !== undefined) return [];
  return ['the manifest enables files, and neither PORTCULLIS_FILES_DIR nor PORTCULLIS_FILE_SERVICE_URL is set'];
}

function unserved(
  problems: readonly AgentProblem[],
  agent?: LoadedAgent,
  capabilities: Readonly<Record<string, boolean>> = {},
): PreparedAgent {
  const served = { kind: 'not_ready', problems } as const;
  return {
    served,
    agent,
    capabilities,
    mayPass: false,
    passingProblems: () => [],
    failingProviders: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const filesAway: AgentProblem = {
  code: 'advertised_capability_unavailable',
  capability: 'files',
  message: 'the file store does not answer; calls with files fail until it does',
};

function goneProblem(policy: string): AgentProblem {
  return {
    code: 'policy_invalid',
    message:
      `the policy ${policy} is no longer served in the revision that the version names: serve that revision under this name, or ` +
      'publish a version that names the present one',
  };
}

/** Text of a prompt cannot be streamed if the output policy needs the whole text. */
function windowlessProblem(policy: string): AgentProblem {
  return {
    code: 'advertised_capability_unavailable',
    capability: 'a2a.streaming',
    message:
      `the flow streams the text of a prompt, and the policy ${policy} cannot judge it in windows: change the rule that ` +
      'needs the whole text, or set stream: false in the prompt',
  };
}

function unavailableProblem(capability: string): AgentProblem {
  return {
    code: 'advertised_capability_unavailable',
    capability,
    message: `the manifest requests ${capability}, which the startup check did not confirm`,
  };
}
