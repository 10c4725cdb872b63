import { z } from 'zod';
import type { TraceContext } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/json-value';
import { valueSchema } from '../definition/node-parts.ts';
import type { BudgetShare } from './budget.ts';

/**
 * Arguments of every call of a port. A port ends its work when the signal is aborted, passes the trace on, takes the
 * identity of the caller out of `context` and nowhere else, and throws PortError.
 */
export type PortCall = {
  readonly signal: AbortSignal;
  readonly runId: string;
  readonly traceId: string;
  /** The budget of the run of the called agent; undefined for a call that starts no run. */
  readonly share?: BudgetShare;
  /** The span of this attempt, whose parent is the span of its node; the called service continues it. */
  readonly trace: TraceContext;
  /** The node, or `NODE.TOOL` for a tool that a model chose. */
  readonly caller: string;
  /** The path of the node, which occurs once in a run. */
  readonly path: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Facts that the platform provides about the request, never a value of the request itself. */
  readonly context: Readonly<Record<string, JsonValue>>;
};

const usage = z.object({ promptTokens: z.int().min(0), completionTokens: z.int().min(0) });
const text = z.string();
const record = z.record(z.string(), valueSchema);

/** The shapes of the answers of all ports, by port and method. An answer of another shape is `answer_invalid`. */
export const answerSchemas = {
  model: z.object({
    text,
    toolCalls: z.array(z.object({ id: text, name: text, arguments: valueSchema })).default([]),
    finishReason: text.default('stop'),
    /** Absent if the model reported no usage. */
    usage: usage.optional(),
  }),
  retrieval: z.object({ items: z.array(record), text: text.optional() }),
  memorySearch: z.object({ items: z.array(record) }),
  memoryAdd: z.object({ eventId: text }),
  sessionGet: z.object({ state: record }),
  sessionPut: z.object({}),
  guardrail: z.object({ decision: z.enum(['pass', 'mask', 'deny']), text: text.optional() }),
  http: z.object({ status: z.int().min(100).max(599), body: valueSchema }),
  mcp: z.object({ text, data: valueSchema.optional() }),
  agent: z.object({ text: text.optional(), data: valueSchema.optional() }),
  file: z.object({ text: text.optional(), providerFileId: text.optional(), mediaType: text }),
} as const;

export type PortName = keyof typeof answerSchemas;
/** The answer of a port before missing members get their defaults. */
type PortAnswer<Name extends PortName> = z.input<(typeof answerSchemas)[Name]>;
/** An answer after it was read. */
export type ReadAnswer<Name extends PortName> = z.output<(typeof answerSchemas)[Name]>;

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: JsonValue }[];
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

export type PortRequests = {
  readonly model: {
    readonly model: string;
    readonly messages: readonly ModelMessage[];
    readonly parameters: {
      readonly temperature?: number | undefined;
      readonly topP?: number | undefined;
      /** Maximum number of tokens of the answer; undefined for the limit of the model. */
      readonly maxTokens?: number | undefined;
      readonly seed?: number | undefined;
    };
    readonly responseSchema?: JsonValue;
    readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: JsonValue }[];
    /** Receives the text piece by piece, for prompts that stream; the answer has the whole text, too. */
    readonly onText?: (text: string) => void;
  };
  readonly retrieval: {
    readonly collection: string;
    readonly query: string;
    readonly topK: number;
    readonly rerank: boolean;
    readonly mode?: 'hybrid' | 'vector' | 'bm25';
    readonly filters?: JsonValue;
    /** If this number is set, the answer also has a text. */
    readonly tokenBudget?: number;
  };
  readonly memorySearch: { readonly query: string; readonly topK: number };
  readonly memoryAdd: { readonly text: string; readonly infer: boolean };
  readonly sessionGet: Readonly<Record<never, never>>;
  readonly sessionPut: { readonly state: JsonValue };
  /** The answers `pass` and `mask` have the text that the run continues with; `deny` ends the node. */
  readonly guardrail: { readonly policy: string; readonly stage: 'request' | 'response'; readonly text: string };
  readonly http: {
    readonly connection: string;
    readonly method: string;
    /** The URL path with encoded values: no value adds a slash, a question mark or a fragment. */
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
    readonly body?: JsonValue;
  };
  readonly mcp: { readonly server: string; readonly tool: string; readonly arguments: JsonValue };
  readonly agent: {
    readonly agentId: string;
    readonly version?: string;
    readonly text?: string;
    readonly data?: JsonValue;
  };
  readonly file: { readonly fileId: string; readonly use: 'text' | 'provider' };
};

/** The outside systems that a flow calls, one function for each operation. */
export type FlowPorts = {
  readonly [Name in PortName]: (request: PortRequests[Name], call: PortCall) => Promise<PortAnswer<Name>>;
};
