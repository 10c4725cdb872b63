import type { JsonValue } from '#kit/json/json-value';
import type { FlowNode, NodeOf, PromptTool } from '../definition/node-schemas.ts';
import { type CompileNotes, createNotes } from '../expressions/compile-notes.ts';
import { type CompiledCondition, compileCondition } from '../expressions/condition.ts';
import { type CompiledTemplate, compileTemplate } from '../expressions/template.ts';
import { type CompiledValue, compileValue } from '../expressions/value.ts';
import { checkSchema } from '../schemas/check-schema.ts';
import { compileSchema, type SchemaCheck } from '../schemas/compile-schema.ts';
import type { SourcePath } from '../source/problem.ts';
import type { LoadedNode, LoadedTool } from './loaded-flow.ts';

/** A compiled node and its findings: `notes` for the place of the node, `ending` for the end of a turn of its body. */
export type CompiledNode = {
  readonly node: Pick<
    LoadedNode,
    'inputs' | 'texts' | 'conditions' | 'state' | 'checkOutput' | 'checkResponse' | 'tools'
  >;
  readonly notes: CompileNotes;
  readonly ending: CompileNotes;
};

const text = { type: 'string', minLength: 1 };
const fixed = (name: string) => ({
  type: 'object',
  properties: { [name]: text },
  required: [name],
  additionalProperties: false,
});

/** Compiles expressions, templates, conditions and schemas of one node. */
export function compileNode(source: FlowNode, at: SourcePath): CompiledNode {
  const [notes, ending] = [createNotes(), createNotes()];
  const config = [...at, 'config'];
  const inputs = 'inputs' in source && source.inputs !== undefined ? source.inputs : {};
  const outputSchema = 'outputSchema' in source ? source.outputSchema : undefined;
  const responseSchema =
    'config' in source && 'responseSchema' in source.config ? source.config.responseSchema : undefined;
  const checkOutput = schemaAt(outputSchema, [...at, 'outputSchema'], notes);
  const checkResponse = schemaAt(responseSchema, [...config, 'responseSchema'], notes);
  const node = {
    inputs: compileAll(inputs, [...at, 'inputs'], notes),
    texts: textsOf(source, config, notes),
    conditions: conditionsOf(source, config, notes),
    state: compileAll(source.kind === 'loop' ? (source.config.state ?? {}) : {}, [...config, 'state'], ending),
    tools: source.kind === 'prompt' ? toolsOf(source, config, notes) : new Map<string, LoadedTool>(),
    ...(checkOutput === undefined ? {} : { checkOutput }),
    ...(checkResponse === undefined ? {} : { checkResponse }),
  };
  if (source.kind === 'tool_http') checkPath(source, config, notes);
  return { node, notes, ending };
}

function compileAll(
  values: Readonly<Record<string, JsonValue | undefined>>,
  at: SourcePath,
  notes: CompileNotes,
): ReadonlyMap<string, CompiledValue> {
  const given = Object.entries(values).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return new Map(given.map(([name, value]) => [name, compileValue(value, [...at, name], notes)]));
}

function textsOf(source: FlowNode, config: SourcePath, notes: CompileNotes): readonly CompiledTemplate[] {
  if (source.kind === 'template') return [compileTemplate(source.config.text, [...config, 'text'], notes)];
  if (source.kind !== 'prompt') return [];
  return source.config.messages.map(({ content }, index) =>
    compileTemplate(content, [...config, 'messages', index, 'content'], notes),
  );
}

function conditionsOf(source: FlowNode, config: SourcePath, notes: CompileNotes): readonly CompiledCondition[] {
  if (source.kind === 'condition') {
    return source.config.cases.map(({ when }, index) =>
      compileCondition(when, [...config, 'cases', index, 'when'], notes),
    );
  }
  if (source.kind !== 'loop' || source.config.while === undefined) return [];
  return [compileCondition(source.config.while, [...config, 'while'], notes)];
}

/** Checks and compiles a schema; undefined if there is no schema, or if it has a problem. */
export function schemaAt(schema: JsonValue | undefined, at: SourcePath, notes: CompileNotes): SchemaCheck | undefined {
  if (schema === undefined) return undefined;
  const problems = checkSchema(schema, at);
  notes.problems.push(...problems);
  if (problems.length > 0) return undefined;
  const check = compileSchema(schema);
  if (typeof check === 'function') return check;
  notes.problems.push({ code: 'schema', at: [...at, ...check.place], message: check.message });
  return undefined;
}

function toolsOf({ config }: NodeOf<'prompt'>, at: SourcePath, notes: CompileNotes): ReadonlyMap<string, LoadedTool> {
  const { tools = [], maxTurns } = config;
  if (tools.length === 0 && maxTurns !== undefined) {
    notes.problems.push({ code: 'tools', at: [...at, 'maxTurns'], message: 'is for prompts with tools only' });
  }
  const loaded = new Map<string, LoadedTool>();
  for (const [index, tool] of tools.entries()) {
    const place = [...at, 'tools', index];
    if (loaded.has(tool.name)) {
      notes.problems.push({
        code: 'duplicate',
        at: [...place, 'name'],
        message: 'is the name of an earlier tool, too',
      });
    }
    const parameters = parametersOf(tool);
    const check = schemaAt(parameters, [...place, 'parameters'], notes);
    if (check === undefined) continue;
    if (parameters['type'] !== 'object') {
      notes.problems.push({
        code: 'schema',
        at: [...place, 'parameters'],
        message: 'must have type object at its top',
      });
    }
    if ('http' in tool && !namesOf(tool.http.path).every((name) => isRequired(parameters, name))) {
      const message = 'must have each {name} among the required parameters';
      notes.problems.push({ code: 'tools', at: [...place, 'http', 'path'], message });
    }
    loaded.set(tool.name, { parameters, check });
  }
  return loaded;
}

function parametersOf(tool: PromptTool): LoadedTool['parameters'] {
  if ('parameters' in tool) return tool.parameters;
  return 'agent' in tool ? fixed('message') : fixed('query');
}

/** Each `{name}` in the URL path of a tool needs a value in `inputs.path`, and each value a `{name}`. */
function checkPath({ config, inputs }: NodeOf<'tool_http'>, at: SourcePath, notes: CompileNotes): void {
  const names = namesOf(config.path);
  const given = Object.keys(inputs.path ?? {});
  const isSame = names.length === given.length && new Set([...names, ...given]).size === names.length;
  if (!isSame) {
    const message = 'must contain each {name} once, and inputs.path must have a value for each name';
    notes.problems.push({ code: 'types', at: [...at, 'path'], message });
  }
  if ((config.method === 'GET' || config.method === 'DELETE') && inputs.body !== undefined) {
    const message = 'must not be GET or DELETE because the request has a body';
    notes.problems.push({ code: 'types', at: [...at, 'method'], message });
  }
}

/** The names in a path template. */
export function namesOf(path: string): readonly string[] {
  return [...path.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].map(([, name]) => name ?? '');
}

function isRequired(schema: LoadedTool['parameters'], name: string): boolean {
  const required = schema['required'];
  return Array.isArray(required) && required.includes(name);
}
