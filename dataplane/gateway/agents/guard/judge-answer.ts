import type { JsonValue } from '#kit/json/json-value';
import type { RoutedVersion } from '#resources/agent-route';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AgentOperation } from '../calls/parse-call.ts';
import { isWireObject, type JudgedCall, objectOf, wireBytes } from './judge-call.ts';
import { type Hold, mostMessageValues, treeBytes } from './tree-bytes.ts';
import type { StageGuard } from './version-guard.ts';

type Members = Record<string, JsonValue>;

export type AnswerFacts = {
  readonly operation: Pick<AgentOperation, 'mode'>;
  readonly version: Pick<RoutedVersion, 'sdk'>;
  readonly asked: JudgedCall['asked'];
  readonly guard: StageGuard;
};

/**
 * One complete message of the process of an image, with its texts as the output policy returns them.
 * @param hold reserves memory for the values of the message
 * @throws AgentRefusal answer_refused for a message that the gateway does not know or that has too many values,
 * overloaded, guardrail_denied, guardrail_error
 */
export async function judgeMessage(bytes: Uint8Array, facts: AnswerFacts, hold: Hold): Promise<Buffer> {
  const value = messageOfImage(bytes);
  if (value === undefined) throw new AgentRefusal('answer_refused');
  if (!(await hold(treeBytes(value)))) throw new AgentRefusal('overloaded');
  const message = facts.operation.mode === 'MCP' ? mcpMessage(value, facts) : value;
  await facts.guard.judge({ message }, 'message');
  return wireBytes(facts.operation.mode === 'MCP' ? { jsonrpc: '2.0', ...idOf(value), ...message } : message);
}

/** The object in a message of a process; undefined for anything else, and for an object with too many values. */
export function messageOfImage(bytes: Uint8Array): Members | undefined {
  const message = objectOf(bytes, mostMessageValues);
  return typeof message === 'string' ? undefined : message;
}

function idOf({ id }: Members): Members {
  return id === undefined ? {} : { id };
}

/** The members of an answer or notification that the gateway sends on; a request of the process is not answered by anyone. */
function mcpMessage({ id, result, error, method, params }: Members, { asked, version }: AnswerFacts): Members {
  if (method !== undefined) {
    const isProgress = id === undefined && method === 'notifications/progress' && isWireObject(params);
    if (!isProgress) throw new AgentRefusal('answer_refused');
    return { method, params };
  }
  if (id === undefined || id !== asked?.id) throw new AgentRefusal('answer_refused');
  if (isWireObject(error)) return { error };
  if (!isWireObject(result)) throw new AgentRefusal('answer_refused');
  return { result: asked.method === 'tools/list' ? onlyTool(result, version.sdk?.tool) : result };
}

/** The list of tools contains only the tool of the route, whatever else the process lists. */
function onlyTool({ tools }: Members, tool: string | undefined): Members {
  const own = Array.isArray(tools) ? tools.filter((one) => isWireObject(one) && one['name'] === tool) : [];
  return { tools: own };
}
