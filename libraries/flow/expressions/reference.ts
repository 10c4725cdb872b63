import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import { ExpressionFault } from './expression-fault.ts';

/** An expression: a root and steps into its value. */
export type FlowReference = {
  readonly text: string;
  readonly root: 'input' | 'state' | 'item' | 'context' | 'node';
  /** Id of the node; set only for the root `node`. */
  readonly node?: string;
  readonly steps: readonly (string | number)[];
};

/**
 * The values of the roots at the place where an expression is evaluated; undefined for a root that has no value there.
 */
export type Scope = {
  readonly input: JsonValue;
  readonly context: JsonValue;
  state(): JsonValue | undefined;
  item(): JsonValue | undefined;
  output(node: string): JsonValue | undefined;
};

const form =
  /^(input|state|item|context|nodes\.([a-z][a-z0-9_-]{0,63})\.output)((?:\.[A-Za-z_][A-Za-z0-9_-]*|\[\d{1,6}\])*)$/;
const step = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]/g;

/** Reads `root(.name|[n])*`; returns the problem as a sentence for any other text. */
export function parseReference(text: string): FlowReference | string {
  const found = form.exec(text);
  if (found === null) {
    return 'is not an expression: write input, state, item, context or nodes.ID.output, then .name or [0]';
  }
  const [, head = '', node, rest = ''] = found;
  const steps = [...rest.matchAll(step)].map(([, name, index]) => name ?? Number(index));
  if (steps.length > flowLimits.pathSteps) return `has more than ${flowLimits.pathSteps} steps`;
  if (steps.some((one) => typeof one === 'number' && one > flowLimits.index)) {
    return `has an index above ${flowLimits.index}`;
  }
  const root = node === undefined ? (head as FlowReference['root']) : 'node';
  return { text, root, ...(node === undefined ? {} : { node }), steps };
}

/** The value to which a reference points; undefined if it is absent. Only own members of objects are read. */
export function findValue({ root, node, steps }: FlowReference, scope: Scope): JsonValue | undefined {
  return steps.reduce<JsonValue | undefined>(
    (value, one) => {
      if (value === undefined || value === null || typeof value !== 'object') return undefined;
      if (Array.isArray(value)) return typeof one === 'number' ? value[one] : undefined;
      return typeof one === 'string' && Object.hasOwn(value, one) ? value[one] : undefined;
    },
    rootOf(root, node, scope),
  );
}

/** @throws ExpressionFault path_missing */
export function requireValue(reference: FlowReference, scope: Scope): JsonValue {
  const value = findValue(reference, scope);
  if (value === undefined) throw new ExpressionFault('path_missing', `${reference.text} has no value`);
  return value;
}

function rootOf(root: FlowReference['root'], node: string | undefined, scope: Scope): JsonValue | undefined {
  switch (root) {
    case 'input':
      return scope.input;
    case 'context':
      return scope.context;
    case 'state':
      return scope.state();
    case 'item':
      return scope.item();
    case 'node':
      return node === undefined ? undefined : scope.output(node);
  }
}
