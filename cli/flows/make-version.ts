import { isMap, parseDocument } from 'yaml';
import type { PublishManifest } from '#flow/definition/manifest-schema';
import { equalValues } from '#flow/expressions/equal-values';
import { flowRequirements } from '#flow/loader/flow-requirements';
import { loadManifest } from '#flow/loader/load-manifest';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import { versionSizeProblem } from '#flow/loader/version-size';
import type { SourceProblem } from '#flow/source/problem';
import type { JsonValue } from '#kit/json/json-value';
import { type AgentVersion, type AgentVersionSpec, requirementKinds } from '#resources/agent-version';
import { apiVersion, kinds } from '#resources/kinds';

/** The texts in one folder. */
type VersionTexts = {
  readonly flow: string;
  readonly manifest: string;
  readonly tests: string;
  readonly subflows: readonly string[];
};

/** An AgentVersion manifest, without the fields that the server sets. */
export type VersionManifest = Pick<AgentVersion, 'apiVersion' | 'kind' | 'spec'> & {
  readonly metadata: { readonly name: string };
};

type MadeVersion =
  | { readonly ok: true; readonly version: VersionManifest }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

/**
 * The resource of a version. The digest, the schemas and the requirements of its manifest are replaced by those of the
 * flow; all other members are unchanged.
 * @param name the name of the resource; by default the name of the agent and the version of the flow
 */
export function makeVersion(flow: LoadedFlow, texts: VersionTexts, name: string | undefined): MadeVersion {
  const manifestText = withFactsOf(flow, texts.manifest);
  const load = loadManifest(manifestText, flow);
  if (!load.ok) return load;
  const tooLarge = versionSizeProblem({ ...texts, manifest: manifestText });
  if (tooLarge !== undefined) return { ok: false, problems: [tooLarge] };
  const { agent, guardrails, limits, requires } = load.manifest;
  const spec: AgentVersionSpec = {
    agent: agent.name,
    guardrails: { input: guardrailOf(guardrails.input), output: guardrailOf(guardrails.output) },
    requires: requires.map(({ kind, name: required }) => ({ kind: requirementKinds[kind], name: required })),
    limits,
    lowCode: {
      flow: texts.flow,
      manifest: manifestText,
      tests: texts.tests,
      ...(texts.subflows.length === 0 ? {} : { subflows: [...texts.subflows] }),
    },
  };
  const metadata = { name: name ?? `${agent.name}-${flow.source.metadata.version}` };
  return { ok: true, version: { apiVersion, kind: kinds.agentVersion.kind, metadata, spec } };
}

function guardrailOf(guardrail: PublishManifest['guardrails']['input']): AgentVersionSpec['guardrails']['input'] {
  if (guardrail === 'None') return { mode: 'None' };
  return { mode: 'Policy', policyRef: { name: guardrail.policy, revision: guardrail.revision } };
}

/** The text of a manifest with the facts of a flow. A text that is not a map stays unchanged: the loader refuses it. */
function withFactsOf(flow: LoadedFlow, text: string): string {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return text;
  const written = document.toJS() as Readonly<Record<string, JsonValue>>;
  const { input, output } = flow.source;
  const facts: readonly (readonly [readonly [string, string], JsonValue])[] = [
    [['flow', 'sha256'], flow.sha256],
    [['contract', 'inputSchema'], input.schema],
    [['contract', 'outputSchema'], output.schema],
  ];
  let isSame = true;
  for (const [path, fact] of facts) {
    const [member, name] = path;
    if (!isMap(document.get(member))) continue;
    const before = (written[member] as Readonly<Record<string, JsonValue>>)[name];
    if (before !== undefined && equalValues(before, fact)) continue;
    document.setIn(path, document.createNode(fact, { flow: true }));
    isSame = false;
  }
  const named = written['requires'] ?? [];
  const absent = flowRequirements(flow).filter((thing) => {
    return !Array.isArray(named) || !named.some((one) => equalValues(one, { ...thing }));
  });
  if (absent.length > 0 && Array.isArray(named)) {
    document.set('requires', document.createNode([...named, ...absent], { flow: true }));
    isSame = false;
  }
  return isSame ? text : document.toString({ lineWidth: 0 });
}
