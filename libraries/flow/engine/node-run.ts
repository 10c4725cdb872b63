import type { JsonValue } from '#kit/json/json-value';
import type { Scope } from '../expressions/reference.ts';
import { evaluateValue } from '../expressions/value.ts';
import type { LoadedNode } from '../loader/loaded-flow.ts';
import { FlowError } from './flow-error.ts';
import { type Frame, scopeOf } from './run-context.ts';

/** One run of one node. */
export type NodeRun<Node extends LoadedNode = LoadedNode> = {
  readonly node: Node;
  readonly frame: Frame;
  readonly scope: Scope;
  readonly signal: AbortSignal;
  readonly attempts: { count: number };
};

/** The ids of the nodes around a node, each with the number of its turn, as in `each[3]/ask`. */
export function pathOf({ node, frame }: Pick<NodeRun, 'node' | 'frame'>): string {
  return `${frame.prefix}${node.source.id}`;
}

export function openNodeRun<Node extends LoadedNode>(node: Node, frame: Frame, signal: AbortSignal): NodeRun<Node> {
  return { node, frame, scope: scopeOf(frame), signal, attempts: { count: 0 } };
}

/** An input of the node; undefined if the flow provides no such input. @throws ExpressionFault */
export function optionalInput({ node, scope }: NodeRun, name: string): JsonValue | undefined {
  const value = node.inputs.get(name);
  return value === undefined ? undefined : evaluateValue(value, scope);
}

/** @throws FlowError type_mismatch, ExpressionFault */
export function textInput(run: NodeRun, name: string): string {
  const value = optionalInput(run, name);
  if (typeof value !== 'string') throw new FlowError('type_mismatch', { message: `${name} must be a text` });
  return value;
}

export type ObjectValue = { [name: string]: JsonValue };

/**
 * An input that is an object; empty if the flow provides no such input. @throws FlowError type_mismatch,
 * ExpressionFault
 */
export function objectInput(run: NodeRun, name: string): ObjectValue {
  return requireObject(optionalInput(run, name) ?? {}, name);
}

/** The value of an input that must be an object. @throws FlowError type_mismatch */
export function requireObject(value: JsonValue, name: string): ObjectValue {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new FlowError('type_mismatch', { message: `${name} must be an object` });
  }
  return value;
}

export function hasKind<Kind extends LoadedNode['source']['kind']>(
  run: NodeRun,
  kind: Kind,
): run is NodeRun<LoadedNode<Extract<LoadedNode['source'], { readonly kind: Kind }>>> {
  return run.node.source.kind === kind;
}
