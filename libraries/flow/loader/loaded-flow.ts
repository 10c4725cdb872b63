import type { FlowSource } from '../definition/flow-schema.ts';
import type { FlowNode, NodeKind } from '../definition/node-schemas.ts';
import type { CompiledCondition } from '../expressions/condition.ts';
import type { CompiledTemplate } from '../expressions/template.ts';
import type { CompiledValue } from '../expressions/value.ts';
import type { SchemaCheck } from '../schemas/compile-schema.ts';

/** A node with its expressions and schemas compiled. */
export type LoadedNode<Source extends FlowNode = FlowNode> = {
  readonly source: Source;
  /** The compiled values by the names of `inputs`. */
  readonly inputs: ReadonlyMap<string, CompiledValue>;
  /** The messages of a prompt, or the text of a template. */
  readonly texts: readonly CompiledTemplate[];
  /** The cases of a condition node, or the `while` of a loop. */
  readonly conditions: readonly CompiledCondition[];
  /** The values that a loop assigns to the state at the end of a turn. */
  readonly state: ReadonlyMap<string, CompiledValue>;
  readonly checkOutput?: SchemaCheck;
  /** The check of an answer; set for a prompt and for an HTTP tool only. */
  readonly checkResponse?: SchemaCheck;
  /** The arguments of each tool of a prompt, with the schema that is sent to the model. */
  readonly tools: ReadonlyMap<string, LoadedTool>;
  readonly next?: string;
  readonly cases: ReadonlyMap<string, string>;
  readonly onError?: string;
  readonly subflow?: LoadedFlow;
};

export type LoadedTool = {
  readonly parameters: Extract<FlowNode, { kind: 'template' }>['outputSchema'] & object;
  readonly check: SchemaCheck;
};

export type LoadedNodeOf<Kind extends NodeKind> = LoadedNode<Extract<FlowNode, { readonly kind: Kind }>>;

/** A flow that every check of the loader accepted. */
export type LoadedFlow = {
  readonly source: FlowSource;
  /** SHA-256 of the canonical JSON of the source as written. */
  readonly sha256: string;
  readonly nodes: ReadonlyMap<string, LoadedNode>;
  readonly checkInput: SchemaCheck;
  readonly checkResult: SchemaCheck;
  readonly checkState?: SchemaCheck;
};
