import type { JsonValue } from '#kit/json/json-value';
import type { LoadedNode } from '../loader/loaded-flow.ts';
import { callPort } from './call-port.ts';
import { encodePath, queryTexts } from './encode-path.ts';
import { FlowError } from './flow-error.ts';
import { type NodeRun, objectInput, optionalInput, pathOf, textInput } from './node-run.ts';
import type { PortName, PortRequests, ReadAnswer } from './ports.ts';

/** Kinds of nodes that make exactly one call of a port. */
type CallingKind =
  | 'retrieval'
  | 'memory_search'
  | 'memory_add'
  | 'session_get'
  | 'session_put'
  | 'guardrail'
  | 'tool_http'
  | 'tool_mcp'
  | 'agent'
  | 'file';
export type CallingSource = Extract<LoadedNode['source'], { readonly kind: CallingKind }>;

/** The output of a node that makes one call. @throws FlowError, ExpressionFault */
export function runCallingNode(run: NodeRun, source: CallingSource): Promise<JsonValue> {
  const ask = <Name extends PortName>(
    port: Name,
    request: PortRequests[Name],
    read: (answer: ReadAnswer<Name>) => JsonValue,
  ): Promise<JsonValue> =>
    callPort({
      run: run.frame.execution.run,
      node: source,
      caller: source.id,
      path: pathOf(run),
      width: run.frame.width,
      port,
      request,
      signal: run.signal,
      attempts: run.attempts,
      read,
    });
  switch (source.kind) {
    case 'retrieval':
      return ask('retrieval', retrievalRequest(run, source), ({ items, text }) => {
        if (source.config.pack === undefined) return { items };
        if (text === undefined) throw new FlowError('answer_invalid');
        return { items, text };
      });
    case 'memory_search':
      return ask('memorySearch', { query: textInput(run, 'query'), topK: source.config.topK }, ({ items }) => ({
        items,
      }));
    case 'memory_add':
      return ask('memoryAdd', { text: textInput(run, 'text'), infer: source.config.infer }, ({ eventId }) => ({
        eventId,
      }));
    case 'session_get':
      return ask('sessionGet', {}, ({ state }) => ({ state }));
    case 'session_put':
      return ask('sessionPut', { state: objectInput(run, 'state') }, () => ({}));
    case 'guardrail': {
      const text = textInput(run, 'text');
      return ask('guardrail', { ...source.config, text }, (answer) => passedText(text, answer));
    }
    case 'tool_http':
      return ask('http', httpRequest(run, source), ({ status, body }) => {
        if ((run.node.checkResponse?.(body) ?? []).length > 0) throw new FlowError('answer_invalid');
        return { status, body };
      });
    case 'tool_mcp':
      return ask('mcp', { ...source.config, arguments: objectInput(run, 'arguments') }, given);
    case 'agent': {
      const [text, data] = [optionalInput(run, 'text'), optionalInput(run, 'data')];
      if (text !== undefined && typeof text !== 'string') {
        throw new FlowError('type_mismatch', { message: 'text must be a text' });
      }
      const { agentId, version } = source.config;
      return ask('agent', given({ agentId, version, text, data }) as PortRequests['agent'], given);
    }
    case 'file':
      return ask('file', { fileId: textInput(run, 'fileId'), use: source.config.use }, (answer) =>
        fileOutput(source.config.use, answer),
      );
  }
}

/** A denied text ends the node; a failed check is an error of the port. */
function passedText(text: string, answer: ReadAnswer<'guardrail'>): JsonValue {
  switch (answer.decision) {
    case 'deny':
      throw new FlowError('guardrail_denied');
    case 'pass':
      return { decision: 'pass', text };
    case 'mask':
      if (answer.text === undefined) throw new FlowError('answer_invalid');
      return { decision: 'mask', text: answer.text };
  }
}

function retrievalRequest(
  run: NodeRun,
  { config }: Extract<CallingSource, { kind: 'retrieval' }>,
): PortRequests['retrieval'] {
  const filters = run.node.inputs.has('filters') ? objectInput(run, 'filters') : undefined;
  const { collection, topK, rerank, mode, pack } = config;
  return {
    collection,
    query: textInput(run, 'query'),
    topK,
    rerank,
    ...(mode === undefined ? {} : { mode }),
    ...(filters === undefined ? {} : { filters }),
    ...(pack === undefined ? {} : { tokenBudget: pack.tokenBudget }),
  };
}

function httpRequest(run: NodeRun, { config }: Extract<CallingSource, { kind: 'tool_http' }>): PortRequests['http'] {
  const body = optionalInput(run, 'body');
  return {
    connection: config.connection,
    method: config.method,
    path: encodePath(config.path, objectInput(run, 'path')),
    query: queryTexts(objectInput(run, 'query')),
    ...(body === undefined ? {} : { body }),
  };
}

function fileOutput(use: 'text' | 'provider', { text, providerFileId, mediaType }: ReadAnswer<'file'>): JsonValue {
  const value = use === 'text' ? text : providerFileId;
  if (value === undefined) throw new FlowError('answer_invalid');
  return { [use === 'text' ? 'text' : 'providerFileId']: value, mediaType };
}

/** The members of an object whose value is not undefined. */
function given(members: { readonly [name: string]: JsonValue | undefined }): { [name: string]: JsonValue } {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}
