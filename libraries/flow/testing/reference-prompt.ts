import type { FlowErrorCode } from '#contracts/flow-errors';
import type { JsonValue } from '#kit/json/json-value';
import type { NodeOf, PromptTool } from '../definition/node-schemas.ts';
import type { PortName } from '../engine/ports.ts';
import {
  filledPath,
  hasMembers,
  type Members,
  matchesSchema,
  ReferenceFault,
  type Roots,
  scalar,
  textOfTemplate,
} from './reference-values.ts';

/**
 * Makes one call with its attempts. `read` returns the members that are used, or the error code of an answer that
 * cannot be used.
 */
type Ask = (
  port: PortName,
  request: JsonValue,
  read: (answer: Members) => Members | FlowErrorCode,
  /**
   * Whether a call of a tool may have an effect, so that it is repeated only if it had none; if absent, the port
   * decides.
   */
  hasEffect?: boolean,
) => Members;
type ToolCall = { readonly id: string; readonly name: string; readonly arguments: JsonValue };

/** Number of turns of a prompt with tools that specifies no number. */
const usualTurns = 8;

/** The output of a prompt with its tools, which are called one after another. */
export function promptOutput({ config }: NodeOf<'prompt'>, roots: Roots, ask: Ask): JsonValue {
  const { model, parameters, responseSchema, tools = [] } = config;
  const { maxTurns = tools.length === 0 ? 1 : usualTurns } = config;
  const shown = tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: schemaOf(tool) }));
  let messages: JsonValue[] = config.messages.map(({ role, content }) => ({
    role,
    content: textOfTemplate(content, roots),
  }));
  let [promptTokens, completionTokens] = [0, 0];
  for (let turns = 1; turns <= maxTurns; turns += 1) {
    const request = {
      model,
      messages,
      parameters,
      tools: shown,
      ...(responseSchema === undefined ? {} : { responseSchema }),
    };
    const { text, usage, toolCalls, data } = ask('model', request as JsonValue, (answer) => {
      if (((answer['toolCalls'] ?? []) as JsonValue[]).length > 0 || responseSchema === undefined) return answer;
      return withData(answer, responseSchema);
    });
    const calls = (toolCalls ?? []) as unknown as readonly ToolCall[];
    promptTokens += Number((usage as Members)['promptTokens']);
    completionTokens += Number((usage as Members)['completionTokens']);
    if (calls.length === 0) {
      const said = { text: text as JsonValue, finishReason: 'stop', usage: { promptTokens, completionTokens }, turns };
      return data === undefined ? said : { ...said, data };
    }
    if (turns === maxTurns) break;
    const results = calls.map((call) => ({
      role: 'tool',
      toolCallId: call.id,
      content: JSON.stringify(resultOf(call, tools, ask)),
    }));
    const asked = { role: 'assistant', content: text as JsonValue, toolCalls: calls as unknown as JsonValue };
    messages = [...messages, asked, ...results];
  }
  throw new ReferenceFault([{ code: 'turns_exceeded' }]);
}

function withData(answer: Members, schema: JsonValue): Members | FlowErrorCode {
  try {
    const data = JSON.parse(String(answer['text'])) as JsonValue;
    return matchesSchema(schema, data) ? { ...answer, data } : 'answer_invalid';
  } catch {
    return 'answer_invalid';
  }
}

function schemaOf(tool: PromptTool): JsonValue {
  if ('parameters' in tool) return tool.parameters;
  const name = 'agent' in tool ? 'message' : 'query';
  const text = { type: 'string', minLength: 1 };
  return { type: 'object', properties: { [name]: text }, required: [name], additionalProperties: false };
}

/** The message with which the model receives the result of a call, or the code of its error. */
function resultOf({ name, arguments: given }: ToolCall, tools: readonly PromptTool[], ask: Ask): JsonValue {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return { error: 'tool_unknown' };
  if (!hasMembers(given) || !matchesSchema(schemaOf(tool), given)) return { error: 'arguments_invalid' };
  try {
    return called(tool, given, ask);
  } catch (thrown) {
    if (!(thrown instanceof ReferenceFault)) throw thrown;
    return { error: thrown.faults[0]?.code ?? '' };
  }
}

function called(tool: PromptTool, given: Members, ask: Ask): JsonValue {
  const found = ({ text, data }: Members): JsonValue => data ?? text ?? null;
  const whole = (answer: Members): Members => answer;
  if ('mcp' in tool) return found(ask('mcp', { ...tool.mcp, arguments: given }, whole, true));
  if ('agent' in tool) {
    return found(ask('agent', { agentId: tool.agent.agentId, text: given['message'] as string }, whole, true));
  }
  if ('retrieval' in tool) {
    const request = { ...tool.retrieval, rerank: false, query: given['query'] as string };
    return ask('retrieval', request, whole, false)['items'] as JsonValue;
  }
  const { connection, method, path } = tool.http;
  const rest = Object.entries(given).filter(([name]) => !path.includes(`{${name}}`));
  const filled = filledPath(path, given);
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const query = hasBody ? [] : rest.map(([name, value]) => [name, scalar(value)] as const);
  const body = hasBody ? { body: Object.fromEntries(rest) } : {};
  const request = { connection, method, path: filled, query: Object.fromEntries(query), ...body };
  const { status, body: answer } = ask('http', request, whole, !['GET', 'PUT', 'DELETE'].includes(method));
  return { status: status as JsonValue, body: answer as JsonValue };
}
