import { flowsWithin } from '../loader/flows-within.ts';
import type { LoadedFlow } from '../loader/loaded-flow.ts';
import type { PlacedProblem, SourceProblem } from '../source/problem.ts';
import { readStrictYaml } from '../source/read-strict-yaml.ts';
import { type FlowTest, flowTestsSchema } from './flow-tests-schema.ts';

type TestsLoad =
  | { readonly ok: true; readonly tests: readonly FlowTest[] }
  | { readonly ok: false; readonly problems: readonly SourceProblem[] };

/**
 * Reads the tests of a flow. A name that the flow does not have is a problem, because a test with a misspelt name would
 * test nothing.
 */
export function loadTests(text: string, flow: LoadedFlow): TestsLoad {
  const read = readStrictYaml(text, flowTestsSchema);
  if (!read.ok) return read;
  const { tests } = read.source.value;
  const callers = callersOf(flow);
  const problems = tests.flatMap((test, index): readonly PlacedProblem[] => {
    const at = ['tests', index];
    const { name, entrypoint, answers, expect } = test;
    const unknown = (list: readonly string[] | undefined, member: string): readonly PlacedProblem[] =>
      (list ?? []).flatMap((id, place) =>
        flow.nodes.has(id) ? [] : [{ code: 'target', at: [...at, 'expect', member, place], message: 'names no node' }],
      );
    return [
      ...(tests.findIndex((other) => other.name === name) === index
        ? []
        : [{ code: 'duplicate', at: [...at, 'name'], message: 'is the name of an earlier test, too' } as const]),
      ...(entrypoint === undefined || Object.hasOwn(flow.source.entrypoints, entrypoint)
        ? []
        : [{ code: 'target', at: [...at, 'entrypoint'], message: 'is not an entry point of the flow' } as const]),
      ...Object.keys(answers)
        .filter((caller) => !callers.has(caller))
        .map(
          (caller): PlacedProblem => ({
            code: 'target',
            at: [...at, 'answers', caller],
            message: 'names no node that calls anything',
          }),
        ),
      ...unknown(expect.runs, 'runs'),
      ...unknown(expect.skips, 'skips'),
    ];
  });
  return problems.length > 0 ? { ok: false, problems: problems.map(read.source.locate) } : { ok: true, tests };
}

/** Kinds of nodes that have a timeout but make no calls themselves. */
const containers: ReadonlySet<string> = new Set(['loop', 'parallel', 'subflow']);

/** The names under which the nodes of a flow, and of its subflows, call ports. */
function callersOf(flow: LoadedFlow): ReadonlySet<string> {
  const nodes = flowsWithin(flow).flatMap((one) => [...one.nodes.values()]);
  return new Set(
    nodes.flatMap(({ source }) => {
      if (source.kind === 'prompt')
        return [source.id, ...(source.config.tools ?? []).map(({ name }) => `${source.id}.${name}`)];
      return 'timeoutMs' in source && !containers.has(source.kind) ? [source.id] : [];
    }),
  );
}
