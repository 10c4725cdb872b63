import type { PlacedProblem, SourcePath } from '../source/problem.ts';
import type { FlowReference } from './reference.ts';

/** A reference of a node with its place. `tolerant`: the value may be absent at this place. */
export type PlacedReference = {
  readonly reference: FlowReference;
  readonly at: SourcePath;
  readonly tolerant: boolean;
};

/** Findings from compiling the expressions of a source. */
export type CompileNotes = { readonly references: PlacedReference[]; readonly problems: PlacedProblem[] };

export function createNotes(): CompileNotes {
  return { references: [], problems: [] };
}
