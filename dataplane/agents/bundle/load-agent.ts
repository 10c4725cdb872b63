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
import { fileUses } from './file-uses.ts';
import { hasText, knownMediaTypes } from './media-types.ts';

/** One version whose flow and manifest passed every check of the loader. It never changes (`agents:flow:immutable`). */
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

/** Most problems of one source that are reported together. */
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
    const [entry, other] = split(manifest.problems, ({ path }) => path === 'flow.entrypoint');
    const file = 'manifest.yaml';
    return {
      ok: false,
      problems: [...placed('entry_point_invalid', file, entry), ...placed('manifest_invalid', file, other)],
    };
  }
  const agent = {
    bundle,
    flow: flow.flow,
    manifest: manifest.manifest,
    textMember: textMemberOf(manifest.manifest.contract),
    streamed: manifest.manifest.contract.capabilities.streaming ? streamedPrompts(flow.flow) : new Set<string>(),
  };
  const problems = contractProblems(agent);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, agent };
}

/** The media modes of a manifest must fit its input schema, and its guardrails those of the bundle of the agent. */
function contractProblems({ bundle, flow, manifest, textMember }: LoadedAgent): readonly AgentProblem[] {
  const problems: AgentProblem[] = [];
  const known = ['text/plain', 'application/json'];
  const { inputMediaModes, outputMediaModes } = manifest.contract;
  const report = (code: ProblemCode, message: string) => void problems.push({ code, message });
  if (![...inputMediaModes, ...outputMediaModes].every((mode) => known.includes(mode))) {
    report('manifest_invalid', `the media modes of the contract must be of ${known.join(' and ')}`);
  }
  if (inputMediaModes.includes('text/plain') && textMember === undefined) {
    report(
      'manifest_invalid',
      'contract.inputMediaModes names text/plain, but the input schema has neither a string named text nor exactly one ' +
        'required string',
    );
  }
  const { enabled, mediaTypes } = manifest.files;
  if (enabled && (mediaTypes.length === 0 || !mediaTypes.every((type) => knownMediaTypes.includes(type)))) {
    report('manifest_invalid', `files.mediaTypes must name at least one, and only, of ${knownMediaTypes.join(', ')}`);
  }
  const uses = fileUses(flow);
  const unreadable = mediaTypes.filter((type) => knownMediaTypes.includes(type) && !hasText(type));
  if (enabled && uses.has('text') && !uses.has('provider') && unreadable.length > 0) {
    report(
      'manifest_invalid',
      `files.mediaTypes names ${unreadable.join(', ')}, of which no file node can read a text`,
    );
  }
  for (const stage of ['input', 'output'] as const) {
    const [asked, issued] = [manifest.guardrails[stage], bundle.guardrails[stage]];
    const isEqual =
      asked === 'None' || issued === 'None'
        ? asked === issued
        : asked.policy === issued.name && asked.revision === issued.revision;
    if (!isEqual) report('policy_invalid', `the ${stage} guardrail of the bundle is not that of the manifest`);
  }
  return problems;
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

function refused(code: ProblemCode, message: string): AgentLoad {
  return { ok: false, problems: [{ code, message }] };
}

function split<T>(list: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [list.filter(isFirst), list.filter((one) => !isFirst(one))];
}
