import { digestOf } from '#contracts/canonical';
import { manifestSchema, type PublishManifest } from '../definition/manifest-schema.ts';
import { createNotes } from '../expressions/compile-notes.ts';
import { equalValues } from '../expressions/equal-values.ts';
import type { PlacedProblem, SourcePath, SourceProblem } from '../source/problem.ts';
import { readStrictYaml } from '../source/read-strict-yaml.ts';
import { schemaAt } from './compile-node.ts';
import { flowRequirements } from './flow-requirements.ts';
import type { LoadedFlow } from './loaded-flow.ts';
import { mediaProblems, unavailableCode } from './media-problems.ts';
import { outputsOf } from './output-modes.ts';

type ManifestLoad =
  | { readonly ok: true; readonly manifest: PublishManifest; readonly sha256: string }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

/** Reads a publish manifest and compares it with the flow that it publishes. */
export function loadManifest(text: string, flow: LoadedFlow): ManifestLoad {
  const read = readStrictYaml(text, manifestSchema);
  if (!read.ok) return { ok: false, problems: read.problems.map(namedCapability) };
  const { value: manifest, written, locate } = read.source;
  const problems = manifestProblems(manifest, flow);
  if (problems.length > 0) return { ok: false, problems: problems.map(locate) };
  return { ok: true, manifest, sha256: digestOf(written) };
}

/** The values that a manifest can request, by the beginning of their path, and the values that this release offers. */
const requests = [
  ['executionModes[', 'is not a mode of this release, which has a2a_agent and mcp_tool'],
  ['contract.capabilities.', 'is not a capability of this release, which has streaming'],
  ['a2a.protocolVersion', 'is not a version of A2A of this release, which has "1.0"'],
] as const;

/**
 * A request for a capability that this release does not have is reported with this name
 * (`agents:card:unimplemented-readiness`).
 */
function namedCapability(problem: SourceProblem): SourceProblem {
  const request = requests.find(([path]) => problem.code === 'shape' && problem.path.startsWith(path));
  if (request === undefined || problem.path === 'contract.capabilities.streaming') return problem;
  return { ...problem, code: 'capability', message: `${request[1]}: ${unavailableCode}` };
}

function manifestProblems(manifest: PublishManifest, flow: LoadedFlow): readonly PlacedProblem[] {
  const { contract, executionModes, requires } = manifest;
  const notes = createNotes();
  const { problems } = notes;
  const report = (code: PlacedProblem['code'], at: SourcePath, message: string) =>
    void problems.push({ code, at, message });
  if (manifest.flow.sha256 !== flow.sha256)
    report('digest', ['flow', 'sha256'], `is not the digest of the flow, ${flow.sha256}`);
  if (!Object.hasOwn(flow.source.entrypoints, manifest.flow.entrypoint)) {
    report('target', ['flow', 'entrypoint'], 'is not an entry point of the flow');
  }
  for (const [name, own] of [
    ['inputSchema', flow.source.input.schema],
    ['outputSchema', flow.source.output.schema],
  ] as const) {
    schemaAt(contract[name], ['contract', name], notes);
    if (!equalValues(contract[name], own))
      report('schema', ['contract', name], 'is not the schema of the flow: copy it from there');
  }
  if (executionModes.includes('a2a_agent') && manifest.a2a === undefined) {
    report('shape', ['a2a'], 'is required for the mode a2a_agent');
  }
  if (executionModes.includes('mcp_tool') && manifest.mcp === undefined) {
    report('shape', ['mcp'], 'is required for the mode mcp_tool');
  }
  problems.push(...mediaProblems(manifest, flow), ...outputProblems(manifest, flow));
  for (const { kind, name } of flowRequirements(flow)) {
    if (requires.some((one) => one.kind === kind && one.name === name)) continue;
    report('target', ['requires'], `must name the ${kind} ${name}, which the flow uses`);
  }
  return problems;
}

/**
 * A card promises the output modes of the contract: each output must have one of these modes, and each mode must be
 * that of an output.
 */
function outputProblems(
  { flow: { entrypoint }, contract }: PublishManifest,
  flow: LoadedFlow,
): readonly PlacedProblem[] {
  const { outputMediaModes: listed } = contract;
  const at = ['contract', 'outputMediaModes'];
  const outputs = outputsOf(flow, entrypoint);
  // If a flow has no output, every run fails: either a problem of the entry point is already reported, or the flow ends
  // with fail.
  if (outputs.length === 0) return [];
  const silent = outputs.filter(({ modes }) => !modes.some((mode) => listed.includes(mode)));
  const given = outputs.flatMap(({ modes }) => modes);
  return [
    ...silent.map(({ id, modes }) => {
      const message = `has no mode of the output ${id}, which gives ${modes.join(' and ')}: add one`;
      return { code: 'types', at, message } as const;
    }),
    ...listed.flatMap((mode, index) => {
      if (given.includes(mode)) return [];
      const message = `is given by no output of the flow: the outputs give ${[...new Set(given)].join(' and ')}`;
      return [{ code: 'types', at: [...at, index], message } as const];
    }),
  ];
}
