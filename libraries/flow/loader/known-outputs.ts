import type { JsonValue } from '#kit/json/json-value';
import type { FlowSource } from '../definition/flow-schema.ts';
import type { FlowNode, NodeKind } from '../definition/node-schemas.ts';
import { anything, type Known, knownBy, knownMembers, stepInto } from '../schemas/static-types.ts';
import type { LoadedFlow } from './loaded-flow.ts';

const text = knownBy({ type: 'string' });
const list = knownBy({ type: 'array' });
const object = knownBy({ type: 'object' });
const integer = knownBy({ type: 'integer' });

const optionalSchema = (schema: JsonValue | undefined): Known => (schema === undefined ? anything : knownBy(schema));

/** The knowledge about the output of a node before a run; `outputSchema` of the node adds to it. */
export function knownOutput(node: FlowNode, flow: FlowSource, subflow: LoadedFlow | undefined, inputs: Known): Known {
  if ('outputSchema' in node && node.outputSchema !== undefined) return knownBy(node.outputSchema);
  switch (node.kind) {
    case 'input': {
      const input = knownBy(flow.input.schema);
      const { fields } = node.config;
      if (fields === undefined) return input;
      return knownMembers(Object.fromEntries(fields.map((name) => [name, stepInto(input, [name])])));
    }
    case 'output':
    case 'fail':
      return anything;
    case 'prompt': {
      const answer = { text, finishReason: text, usage: object, turns: integer };
      const { responseSchema } = node.config;
      return knownMembers(responseSchema === undefined ? answer : { ...answer, data: knownBy(responseSchema) });
    }
    case 'template':
      return knownMembers({ text });
    case 'transform':
      return inputs;
    case 'retrieval':
      return knownMembers(node.config.pack === undefined ? { items: list } : { items: list, text });
    case 'memory_search':
      return knownMembers({ items: list });
    case 'memory_add':
      return knownMembers({ eventId: text });
    case 'session_get':
      return knownMembers({ state: object });
    case 'session_put':
      return knownMembers({});
    case 'guardrail':
      return knownMembers({ decision: text, text });
    case 'condition':
      return knownMembers({ case: text });
    case 'parallel':
      return knownMembers(Object.fromEntries(node.config.branches.map((id) => [id, anything])));
    case 'loop':
      return knownMembers({ items: list, turns: integer });
    case 'tool_http':
      return knownMembers({ status: integer, body: optionalSchema(node.config.responseSchema) });
    case 'tool_mcp':
      return knownMembers({ text, data: anything });
    case 'agent':
      return knownMembers({ text: anything, data: anything });
    case 'file':
      return knownMembers(
        node.config.use === 'text' ? { text, mediaType: text } : { providerFileId: text, mediaType: text },
      );
    case 'subflow':
      return knownMembers({ text: anything, data: optionalSchema(subflow?.source.output.schema) });
  }
}

const wantsText = { type: 'string' };
const wantsObject = { type: 'object' };

/** The types that inputs must have, by kind and name. */
export const wantedInputs: { readonly [Kind in NodeKind]?: Readonly<Record<string, JsonValue>> } = {
  output: { text: wantsText },
  retrieval: { query: wantsText, filters: wantsObject },
  memory_search: { query: wantsText },
  memory_add: { text: wantsText },
  session_put: { state: wantsObject },
  guardrail: { text: wantsText },
  loop: { items: { type: 'array' } },
  tool_mcp: { arguments: wantsObject },
  agent: { text: wantsText },
  file: { fileId: wantsText },
};
