import type { LoadedFlow } from '../loader/loaded-flow.ts';
import type { PlacedProblem, SourceProblem } from '../source/problem.ts';
import { readStrictYaml } from '../source/read-strict-yaml.ts';
import { flowEvaluationSchema, type JudgedCase } from './evaluation-schema.ts';

type EvaluationLoad =
  | { readonly ok: true; readonly cases: readonly JudgedCase[] }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

/** Reads the judged cases of a flow. A name that the flow does not have is a problem. */
export function loadEvaluation(text: string, flow: LoadedFlow): EvaluationLoad {
  const read = readStrictYaml(text, flowEvaluationSchema);
  if (!read.ok) return read;
  const { cases } = read.source.value;
  const problems = cases.flatMap(({ name, entrypoint, expect }, index): readonly PlacedProblem[] => {
    const at = ['cases', index];
    const unknown = (list: readonly string[] | undefined, member: string): readonly PlacedProblem[] =>
      (list ?? []).flatMap((id, place) =>
        flow.nodes.has(id) ? [] : [{ code: 'target', at: [...at, 'expect', member, place], message: 'names no node' }],
      );
    return [
      ...(cases.findIndex((other) => other.name === name) === index
        ? []
        : [{ code: 'duplicate', at: [...at, 'name'], message: 'is the name of an earlier case, too' } as const]),
      ...(entrypoint === undefined || Object.hasOwn(flow.source.entrypoints, entrypoint)
        ? []
        : [{ code: 'target', at: [...at, 'entrypoint'], message: 'is no entry point of the flow' } as const]),
      ...unknown(expect?.runs, 'runs'),
      ...unknown(expect?.skips, 'skips'),
    ];
  });
  return problems.length > 0 ? { ok: false, problems: problems.map(read.source.locate) } : { ok: true, cases };
}
