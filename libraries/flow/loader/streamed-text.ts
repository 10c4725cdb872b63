import type { FlowNode } from '../definition/node-schemas.ts';
import { readExpression } from '../expressions/value.ts';
import type { LoadedFlow, LoadedNode } from './loaded-flow.ts';

/** Keywords of an output schema that every text satisfies. */
const openKeywords: ReadonlySet<string> = new Set(['type', 'title', 'description', 'default', 'examples']);

/**
 * Ids of the prompts whose text is, word for word, the whole result of the flow, so that it may be sent before the run
 * has ended (docs/design/agents.md, "Streamed text"): the prompt streams, has neither tools nor schemas, neither a
 * retry nor an edge for errors, and its next node is an output that consists of its text only. Empty if the output
 * schema limits the text.
 */
export function streamedPrompts(flow: LoadedFlow): ReadonlySet<string> {
  if (!takesAnyText(flow.source.output.schema)) return new Set();
  const prompts = [...flow.nodes.values()].filter((node) => streamsAlone(node) && endsWithText(node, flow));
  return new Set(prompts.map(({ source }) => source.id));
}

function streamsAlone({ source, onError }: LoadedNode): boolean {
  if (source.kind !== 'prompt' || onError !== undefined || source.outputSchema !== undefined) return false;
  // A second attempt would send its text after the text that the first attempt has already sent.
  if ((source.retry?.maxAttempts ?? 1) > 1) return false;
  const { stream, tools, responseSchema } = source.config;
  return stream && tools === undefined && responseSchema === undefined;
}

function endsWithText({ source: { id }, next }: LoadedNode, flow: LoadedFlow): boolean {
  const end: FlowNode | undefined = next === undefined ? undefined : flow.nodes.get(next)?.source;
  if (end?.kind !== 'output' || end.inputs.data !== undefined) return false;
  const text = readExpression(end.inputs.text ?? null);
  return typeof text !== 'string' && text.node === id && text.steps.length === 1 && text.steps[0] === 'text';
}

function takesAnyText(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required, additionalProperties, ...rest } = schema;
  if (type !== 'object' || Object.keys(rest).some((keyword) => !openKeywords.has(keyword))) return false;
  const text = isObject(properties) ? properties['text'] : undefined;
  const isOpen =
    isObject(text) && text['type'] === 'string' && Object.keys(text).every((name) => openKeywords.has(name));
  const isDeclared = isOpen || (text === undefined && additionalProperties === undefined);
  return (
    isDeclared && (required === undefined || (Array.isArray(required) && required.every((name) => name === 'text')))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
