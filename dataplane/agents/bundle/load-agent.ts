import { type AgentBundle, agentBundleDigest, agentBundleSchema } from '#contracts/agent-bundle';
import type { AgentProblem } from '#contracts/agent-state';
import type { PublishManifest } from '#flow/definition/manifest-schema';
import { loadManifest } from '#flow/loader/load-manifest';
import { loadVersionFlow } from '#flow/loader/load-version-flow';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import { streamedPrompts } from '#flow/loader/streamed-text';
import { textMemberOf } from '#flow/loader/text-member';
import { problemLine, type SourceProblem } from '#flow/source/problem';
import { JsonError, parseStrict } from '#kit/json/parse-strict';

/**
 * One version whose flow and manifest passed every check of the loader. The value is never changed
 * (`agents:flow:immutable`).
 */
export type LoadedAgent = {
  readonly bundle: AgentBundle;
  readonly flow: LoadedFlow;
  readonly manifest: PublishManifest;
  /** Member of the input that receives the text of a message. */
  readonly textMember: string | undefined;
  /** Prompts whose text may be sent while they run. */
  readonly streamed: ReadonlySet<string>;
};

type AgentLoad =
  | { readonly ok: true; readonly agent: LoadedAgent }
  | { readonly ok: false; readonly problems: readonly AgentProblem[] };

type ProblemCode = AgentProblem['code'];

/** The members of a manifest that can request a capability which this release does not have. */
const capabilityMembers = [
  'executionModes',
  'contract.capabilities',
  'contract.inputMediaModes',
  'a2a.protocolVersion',
  'files.mediaTypes',
];

/** Maximum number of problems of one source that are reported together. */
const mostProblems = 10;

/** Reads and checks the bundle file of one version. */
export function loadAgent(bytes: Uint8Array): AgentLoad {
  const read = agentBundleSchema.safeParse(parsed(bytes));
  if (!read.success) return refused('bundle_invalid', 'the bundle does not have the shape of an agent bundle');
  const bundle = read.data;
  if (agentBundleDigest(bundle) !== bundle.digest) {
    return refused('bundle_invalid', 'the digest of the bundle is not that of its content');
  }
  const flow = loadVersionFlow(bundle.flow, bundle.subflows);
  if (!flow.ok) return { ok: false, problems: placed('source_invalid', 'flow.yaml', flow.problems) };
  const manifest = loadManifest(bundle.manifest, flow.flow);
  if (!manifest.ok) {
    const [entry, others] = split(manifest.problems, ({ path }) => path === 'flow.entrypoint');
    const [unavailable, other] = split(others, ({ code }) => code === 'capability');
    const file = 'manifest.yaml';
    return {
      ok: false,
      problems: [
        ...unavailable.slice(0, mostProblems).map((problem) => unavailableCapability(file, problem)),
        ...placed('entry_point_invalid', file, entry),
        ...placed('manifest_invalid', file, other),
      ],
    };
  }
  const agent = {
    bundle,
    flow: flow.flow,
    manifest: manifest.manifest,
    textMember: textMemberOf(manifest.manifest.contract),
    streamed: manifest.manifest.contract.capabilities.streaming ? streamedPrompts(flow.flow) : new Set<string>(),
  };
  const problems = guardrailProblems(agent);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, agent };
}

/** Checks that the guardrails in the manifest are the same as those in the bundle of the agent. */
function guardrailProblems({ bundle, manifest }: Pick<LoadedAgent, 'bundle' | 'manifest'>): readonly AgentProblem[] {
  return (['input', 'output'] as const).flatMap((stage): readonly AgentProblem[] => {
    const [asked, issued] = [manifest.guardrails[stage], bundle.guardrails[stage]];
    const isEqual =
      asked === 'None' || issued === 'None'
        ? asked === issued
        : asked.policy === issued.name && asked.revision === issued.revision;
    if (isEqual) return [];
    return [{ code: 'policy_invalid', message: `the ${stage} guardrail of the bundle differs from the manifest` }];
  });
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function placed(code: ProblemCode, file: string, problems: readonly SourceProblem[]): readonly AgentProblem[] {
  return problems.slice(0, mostProblems).map((problem) => ({ code, message: problemLine(file, problem) }));
}

/** Names the member that requests the capability, without text of the author. */
function unavailableCapability(file: string, problem: SourceProblem): AgentProblem {
  const capability = capabilityMembers.find((member) => problem.path.startsWith(member)) ?? '';
  return { code: 'advertised_capability_unavailable', capability, message: problemLine(file, problem) };
}

function refused(code: ProblemCode, message: string): AgentLoad {
  return { ok: false, problems: [{ code, message }] };
}

function split<T>(list: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [list.filter(isFirst), list.filter((one) => !isFirst(one))];
}
