import { z } from 'zod';
import type { JsonValue } from '#kit/json/json-value';

/** The JSON objects of A2A 1.0 that this agent reads and writes. Unknown members are ignored. */
const id = z.string().min(1).max(256);
/** Any value: the body was read as JSON before. */
const json = z.custom<JsonValue>();

const partSchema = z.looseObject({
  text: z.string().optional(),
  data: json.optional(),
  raw: z.string().optional(),
  url: z.string().optional(),
  mediaType: z.string().optional(),
});
export type WirePart = z.output<typeof partSchema>;

export const sendRequestSchema = z.looseObject({
  tenant: z.literal('').optional(),
  message: z.looseObject({
    messageId: id,
    role: z.literal('ROLE_USER'),
    parts: z.array(partSchema).min(1).max(1_024),
    // Generated clients write an absent id as an empty string.
    contextId: z.string().max(256).optional(),
    taskId: z.string().max(256).optional(),
  }),
  configuration: z
    .looseObject({
      acceptedOutputModes: z.array(z.string()).max(64).nullish(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .nullish(),
});
export type SendRequest = z.output<typeof sendRequestSchema>;

export const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;
export type TaskState = (typeof taskStates)[number];

type AnswerPart =
  | { readonly text: string; readonly mediaType: string }
  | { readonly data: JsonValue; readonly mediaType: string };
export type AgentMessage = {
  readonly messageId: string;
  readonly role: 'ROLE_AGENT';
  readonly parts: readonly AnswerPart[];
  readonly contextId: string;
  readonly taskId?: string;
};
type TaskStatus = { readonly state: TaskState; readonly timestamp: string; readonly message?: AgentMessage };
type Artifact = { readonly artifactId: string; readonly name: string; readonly parts: readonly AnswerPart[] };
export type Task = {
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
};

/** One event of a stream. It has one member, whose name is the type of the event. */
export type StreamEvent =
  | { readonly task: Task }
  | { readonly statusUpdate: { readonly taskId: string; readonly contextId: string; readonly status: TaskStatus } }
  | {
      readonly artifactUpdate: {
        readonly taskId: string;
        readonly contextId: string;
        readonly artifact: Artifact;
        /** Whether the client adds these parts to those that it already has of the artifact. */
        readonly append: boolean;
        readonly lastChunk: boolean;
      };
    };
