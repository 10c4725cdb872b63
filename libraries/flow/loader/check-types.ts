import type { FlowSource } from '../definition/flow-schema.ts';
import type { FlowReference } from '../expressions/reference.ts';
import type { CompiledValue } from '../expressions/value.ts';
import { anything, type Known, knownBy, knownMembers, knownOf, mismatch, stepInto } from '../schemas/static-types.ts';
import type { PlacedProblem, SourcePath } from '../source/problem.ts';
import { type Available, findAvailable } from './availability.ts';
import { checkReferences } from './check-references.ts';
import type { CompiledNodes } from './compile-nodes.ts';
import type { Graph } from './graph.ts';
import { knownOutput, wantedInputs } from './known-outputs.ts';
import type { LoadedFlow } from './loaded-flow.ts';
import type { Region } from './regions.ts';

type Checked = {
  readonly source: FlowSource;
  readonly graph: Graph;
  readonly regions: readonly Region[];
  readonly regionOf: ReadonlyMap<string, Region>;
  readonly compiled: CompiledNodes;
  readonly subflows: ReadonlyMap<string, LoadedFlow>;
};

const none: Available = { always: new Set(), maybe: new Set() };

/** Type problems of the values that expressions read and give, for a flow whose graph has no problems. */
export function checkTypes({
  source,
  graph,
  regions,
  regionOf,
  compiled,
  subflows,
}: Checked): readonly PlacedProblem[] {
  const { before, atEnd } = findAvailable(graph, regions);
  const outputs = new Map<string, Known>();
  const state = source.state === undefined ? anything : knownBy(source.state.schema);
  const known = ({ root, node, steps }: FlowReference): Known => {
    if (root === 'input') return stepInto(knownBy(source.input.schema), steps);
    if (root === 'state') return stepInto(state, steps);
    return root === 'node' ? stepInto(outputs.get(node ?? '') ?? anything, steps) : anything;
  };
  const knownValue = (value: CompiledValue): Known => knownOf(value, ({ reference }) => known(reference));
  const nodes = new Set(graph.nodes.keys());
  const around = (available: Available, hasItem: boolean) => ({
    available,
    region: { hasItem },
    hasState: source.state !== undefined,
    nodes,
    known,
  });
  const problems: PlacedProblem[] = [];
  const types = (at: SourcePath, given: Known, wanted: Known): void => {
    const message = mismatch(given, wanted);
    if (message !== undefined) problems.push({ code: 'types', at, message });
  };

  const order = regions.flatMap((region) => region.order);
  for (const id of order) {
    const [node, own] = [graph.nodes.get(id), compiled.nodes.get(id)];
    if (node === undefined || own === undefined) continue;
    const given = knownMembers(
      Object.fromEntries([...own.node.inputs].map(([name, value]) => [name, knownValue(value)])),
    );
    outputs.set(id, knownOutput(node, source, subflows.get(id), given));
  }
  for (const id of order) {
    const [node, own, region] = [graph.nodes.get(id), compiled.nodes.get(id), regionOf.get(id)];
    if (node === undefined || own === undefined || region === undefined) continue;
    problems.push(...checkReferences(own.notes.references, around(before.get(id) ?? none, region.hasItem)));
    if (node.kind === 'loop') {
      const hasItem = region.hasItem || node.inputs !== undefined;
      problems.push(...checkReferences(own.ending.references, around(atEnd.get(id) ?? none, hasItem)));
      problems.push(...assignmentProblems(region, own.at, own.node.state, state, knownValue));
    }
    for (const [name, value] of own.node.inputs) {
      const wanted = wantedInputs[node.kind]?.[name];
      if (wanted !== undefined) types([...own.at, 'inputs', name], knownValue(value), knownBy(wanted));
      if (node.kind === 'output' && name === 'data') {
        types([...own.at, 'inputs', name], knownValue(value), knownBy(source.output.schema));
      }
    }
    if (node.kind === 'output' && !own.node.inputs.has('data')) {
      types([...own.at, 'inputs'], knownMembers({ text: knownBy({ type: 'string' }) }), knownBy(source.output.schema));
    }
    const subflow = subflows.get(id);
    if (subflow === undefined) continue;
    const given = knownMembers(
      Object.fromEntries([...own.node.inputs].map(([name, value]) => [name, knownValue(value)])),
    );
    types([...own.at, 'inputs'], given, knownBy(subflow.source.input.schema));
  }
  return problems;
}

function assignmentProblems(
  region: Region,
  at: SourcePath,
  assigned: ReadonlyMap<string, CompiledValue>,
  state: Known,
  knownValue: (value: CompiledValue) => Known,
): readonly PlacedProblem[] {
  if (assigned.size === 0) return [];
  const place = [...at, 'config', 'state'];
  if (region.isConcurrent) {
    return [{ code: 'state', at: place, message: 'is assigned where several turns or branches run at the same time' }];
  }
  return [...assigned].flatMap(([name, value]): readonly PlacedProblem[] => {
    const wanted = stepInto(state, [name]);
    if (wanted.kind === 'absent')
      return [{ code: 'state', at: [...place, name], message: 'is not a member of the state' }];
    const message = mismatch(knownValue(value), wanted);
    return message === undefined ? [] : [{ code: 'types', at: [...place, name], message }];
  });
}
