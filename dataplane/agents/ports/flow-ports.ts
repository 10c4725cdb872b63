import type { CheckClient } from '#checks/client';
import { judgeText } from '#checks/guard/judge-text';
import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts, PortCall } from '#flow/engine/ports';
import { createAgentPort } from '#flow/services/agent-port';
import { createMemoryPorts } from '#flow/services/memory-ports';
import { createModelPort } from '#flow/services/model-port';
import { createRetrievalPort } from '#flow/services/retrieval-port';
import { type TokenFile, TokenFileError } from '#kit/http/token-file';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { CallFiles } from '../files/call-files.ts';
import { audiences } from '../grants/audiences.ts';
import { type IdentifyRun, identifyByGrant, identifyByName } from '../grants/identify-run.ts';
import type { RunGrants } from '../grants/run-grants.ts';
import { createRunTokens } from '../grants/trade-grants.ts';
import type { PolicyTargets } from '../steps/policy-targets.ts';
import { createConnectionPorts } from './connection-ports.ts';

/** The services that flows of this process call, and how runs identify themselves to them. */
export type FlowServices = {
  readonly identity: 'production' | 'development';
  readonly modelGateway: URL | undefined;
  /** The gateway that exchanges grants for tokens and routes calls of agents. */
  readonly agentGateway: URL | undefined;
  readonly retrieval: URL | undefined;
  readonly memory: URL | undefined;
};

type FlowPortsOptions = {
  readonly services: FlowServices;
  readonly modelGatewayTokenFile: TokenFile | undefined;
  readonly checks: CheckClient;
  readonly policies: PolicyTargets;
  readonly files: CallFiles;
  readonly grants: RunGrants;
};

/**
 * The ports of the flows in this process (docs/design/agents.md, "Calls of a flow"). A call that this process cannot make
 * ends its node as `unavailable`.
 */
export function createFlowPorts(options: FlowPortsOptions): FlowPorts {
  const { services, checks, policies, files } = options;
  const { modelGateway, agentGateway, retrieval, memory } = services;
  const away = async (): Promise<never> => {
    throw new PortError('unavailable');
  };
  const identity = identityOf(options);
  const memories =
    memory === undefined ? undefined : createMemoryPorts({ url: memory, identity: identity(audiences.memory) });
  return {
    model:
      modelGateway === undefined
        ? away
        : createModelPort({ url: modelGateway, identity: modelIdentity(options, identity) }),
    guardrail: createGuardrailPort(checks, policies),
    retrieval:
      retrieval === undefined ? away : createRetrievalPort({ url: retrieval, identity: identity(audiences.retrieval) }),
    memorySearch: away,
    memoryAdd: away,
    sessionGet: away,
    sessionPut: away,
    ...memories,
    ...(agentGateway === undefined
      ? { http: away, mcp: away }
      : createConnectionPorts({ url: agentGateway, identity })),
    agent:
      agentGateway === undefined
        ? away
        : createAgentPort({ url: agentGateway, identity: (agentId) => identity(audiences.agent(agentId)) }),
    file: createFilePort(files),
  };
}

function identityOf({ services, grants }: FlowPortsOptions): IdentifyRun {
  if (services.identity === 'development') return identifyByName;
  const { agentGateway } = services;
  if (agentGateway !== undefined) return identifyByGrant(createRunTokens(agentGateway, grants));
  return () => async () => {
    throw new PortError('unavailable');
  };
}

/**
 * A run with a grant may use the models that its version requires; for a run without a grant the key of this process
 * decides.
 */
function modelIdentity(
  { services, modelGatewayTokenFile: keys, grants }: FlowPortsOptions,
  identity: IdentifyRun,
): (call: PortCall) => Promise<Readonly<Record<string, string>>> {
  const byGrant = identity(audiences.models);
  return async (call) => {
    if (services.agentGateway !== undefined && grants.has(call.runId)) return await byGrant(call);
    return keys === undefined ? {} : { authorization: `Bearer ${keyOf(keys)}` };
  };
}

/** @throws PortError unavailable while the file has no key */
function keyOf(keys: TokenFile): string {
  try {
    return keys.first();
  } catch (error) {
    if (error instanceof TokenFileError) throw new PortError('unavailable');
    throw error;
  }
}

/**
 * The dependencies of a flow that this process cannot reach with its settings, one sentence each. A version with such a
 * dependency is not ready, because each of its runs would fail.
 */
export function unreachableRequirements(
  { bundle }: Pick<LoadedAgent, 'bundle'>,
  { identity, modelGateway, agentGateway, retrieval, memory }: FlowServices,
): readonly string[] {
  const hasTokens = identity === 'development' || agentGateway !== undefined;
  const settings: Partial<Record<(typeof bundle.requires)[number]['kind'], boolean>> = {
    model: modelGateway !== undefined,
    collection: retrieval !== undefined && hasTokens,
    memory: memory !== undefined && hasTokens,
    agent: agentGateway !== undefined,
    // The gateway accepts only tokens for them, which it issues for the grant of a run.
    connection: identity === 'production' && agentGateway !== undefined,
    mcp: identity === 'production' && agentGateway !== undefined,
    policy: true,
  };
  return bundle.requires
    .filter(({ kind }) => settings[kind] !== true)
    .map(({ kind, name }) => `the flow names the ${kind} ${name}, which this process has no setting to reach`);
}

/**
 * The port for file nodes: the files that step three has read for the same run. A name of another run, a path or a URL
 * names no file (`fileref:insufficient:provider-path`, `fileref:provider-path:not-reused-run`).
 */
function createFilePort(files: CallFiles): FlowPorts['file'] {
  return async ({ fileId, use }, { runId }) => {
    const file = files.find(runId, fileId);
    const value = use === 'text' ? file?.text : file?.providerFileId;
    if (file === undefined || value === undefined) throw new PortError('file_provider_mapping_failed');
    return { mediaType: file.mediaType, ...(use === 'text' ? { text: value } : { providerFileId: value }) };
  };
}

/**
 * The port for guardrail nodes: judges a text by a policy that the version names. A text that the policy cannot judge, also not later, ends
 * the node as `refused`.
 */
function createGuardrailPort(checks: CheckClient, policies: PolicyTargets): FlowPorts['guardrail'] {
  return async ({ policy, stage, text }, { signal, trace }) => {
    const target = policies.target(policy, stage);
    if (target === undefined) throw new PortError('refused');
    const traced: Pick<CheckClient, 'check'> = {
      check: (to, at, messages, options) => checks.check(to, at, messages, { ...options, trace }),
    };
    const verdict = await judgeText(traced, target, stage, text, signal);
    switch (verdict.kind) {
      case 'pass':
      case 'mask':
        return { decision: verdict.kind, text: verdict.text };
      case 'denied':
        return { decision: 'deny' };
      case 'failed':
        signal.throwIfAborted();
        throw new PortError('unavailable');
      case 'too_large':
        throw new PortError('refused');
    }
  };
}
