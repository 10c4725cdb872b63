import type { PlacedReference } from '../expressions/compile-notes.ts';
import { type Known, stepInto } from '../schemas/static-types.ts';
import type { PlacedProblem } from '../source/problem.ts';
import type { Available } from './availability.ts';
import type { Region } from './regions.ts';

/** The names that expressions may use at one place. */
type Surroundings = {
  readonly available: Available;
  readonly region: Pick<Region, 'hasItem'>;
  readonly hasState: boolean;
  readonly nodes: ReadonlySet<string>;
  known(reference: PlacedReference['reference']): Known;
};

/**
 * Finds problems of expressions: an expression may name only nodes that dominate its place. An expression with a
 * default, and `exists`, may also name a node that precedes the place on some paths only.
 */
export function checkReferences(
  references: readonly PlacedReference[],
  { available, region, hasState, nodes, known }: Surroundings,
): readonly PlacedProblem[] {
  return references.flatMap(({ reference, at, tolerant }): readonly PlacedProblem[] => {
    const problem = (message: string): readonly PlacedProblem[] => [
      { code: 'reference', at, message: `names ${reference.text}, ${message}` },
    ];
    switch (reference.root) {
      case 'item':
        if (!region.hasItem) return problem('but item has a value in the body of a loop over items only');
        break;
      case 'state':
        if (!hasState) return problem('but the flow has no state: declare it at the top of the flow');
        break;
      case 'node': {
        const id = reference.node ?? '';
        if (!nodes.has(id)) return problem('and there is no such node');
        if (tolerant ? available.maybe.has(id) : available.always.has(id)) break;
        return problem(
          available.maybe.has(id)
            ? 'which does not run before this node on every path: give a default with {from, default}'
            : 'which does not run before this node',
        );
      }
      case 'input':
      case 'context':
        break;
    }
    const found = stepInto(known({ ...reference, steps: [] }), reference.steps);
    return found.kind === 'absent' ? problem(`but its schema allows no ${found.step}`) : [];
  });
}
