import { z } from 'zod';

/** A part of the reply of an agent. The last part of a complete reply is `ended`, `asked` or `failed`. */
export type ReplyPart =
  | { readonly kind: 'begun'; readonly taskId: string | undefined; readonly contextId: string | undefined }
  /**
   * An artifact begins. If an artifact with this id has already begun, the parts that follow replace its earlier parts.
   */
  | { readonly kind: 'artifact'; readonly artifactId: string }
  | ({ readonly kind: 'text'; readonly text: string } & OfArtifact)
  | ({ readonly kind: 'data'; readonly data: z.infer<typeof dataSchema> } & OfArtifact)
  /** A file: its name, or its address or media type if it has no name. Its content is not read. */
  | ({ readonly kind: 'file'; readonly name: string } & OfArtifact)
  | { readonly kind: 'ended' }
  /** The task waits for another message (`TASK_STATE_INPUT_REQUIRED`); the texts before this part are its question. */
  | { readonly kind: 'asked' }
  | ({ readonly kind: 'failed' } & ReplyFailure);

/** Id of the artifact; absent for the part of a message, and for an artifact without an id. */
type OfArtifact = { readonly artifactId?: string };

/** A stable error code, or the state or the HTTP status if there is no code. */
type ReplyFailure = { readonly code: string; readonly message: string };

const dataSchema = z.json();
const fileMember = z.string().optional().catch(undefined);
const partsSchema = z.array(
  z.looseObject({
    text: z.string().optional(),
    data: dataSchema.optional(),
    raw: fileMember,
    url: fileMember,
    filename: fileMember,
    mediaType: fileMember,
  }),
);
const artifactSchema = z.looseObject({ artifactId: z.string().optional(), parts: partsSchema });
const statusSchema = z.looseObject({ state: z.string(), message: z.looseObject({ parts: partsSchema }).optional() });
const errorSchema = z.looseObject({
  message: z.string().default(''),
  details: z.array(z.looseObject({ domain: z.string().optional(), reason: z.string().optional() })).optional(),
});
const replySchema = z.looseObject({
  message: z.looseObject({ parts: partsSchema, contextId: z.string().optional() }).optional(),
  task: z
    .looseObject({
      id: z.string(),
      contextId: z.string(),
      status: statusSchema.optional(),
      artifacts: z.array(artifactSchema).optional(),
    })
    .optional(),
  artifactUpdate: z.looseObject({ artifact: artifactSchema, append: z.boolean().default(false) }).optional(),
  statusUpdate: z.looseObject({ status: statusSchema }).optional(),
  error: errorSchema.optional(),
});
const failureSchema = z.looseObject({ code: z.string(), message: z.string() });

type Parts = z.output<typeof partsSchema>;
type Artifact = z.output<typeof artifactSchema>;
type Status = z.output<typeof statusSchema>;

const openStates: ReadonlySet<string> = new Set(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']);

/**
 * Reads the body of `message:send`, or the data of one event of `message:stream` (A2A 1.0, SendMessageResponse and
 * StreamResponse). An error that ends a stream early is read, too.
 * @throws ZodError on a value of another form
 */
export function readReply(json: unknown): readonly ReplyPart[] {
  const { message, task, artifactUpdate, statusUpdate, error } = replySchema.parse(json);
  if (error !== undefined) return [{ kind: 'failed', ...failureOf(undefined, error) }];
  if (message !== undefined) {
    const { contextId, parts } = message;
    return [{ kind: 'begun', taskId: undefined, contextId }, ...partsOf(parts), { kind: 'ended' }];
  }
  const begun: readonly ReplyPart[] =
    task === undefined ? [] : [{ kind: 'begun', taskId: task.id, contextId: task.contextId }];
  const artifacts = (task?.artifacts ?? []).flatMap((artifact) => artifactParts(artifact, false));
  const update = artifactUpdate === undefined ? [] : artifactParts(artifactUpdate.artifact, artifactUpdate.append);
  const status = statusUpdate?.status ?? task?.status;
  return [...begun, ...artifacts, ...update, ...endOf(status)];
}

/** The parts without those of artifacts that were sent again later. */
export function withoutReplaced(parts: readonly ReplyPart[]): readonly ReplyPart[] {
  const last = new Map<string, number>();
  for (const [at, part] of parts.entries()) if (part.kind === 'artifact') last.set(part.artifactId, at);
  return parts.filter((part, at) => {
    const id = 'artifactId' in part ? part.artifactId : undefined;
    return id === undefined || at >= (last.get(id) ?? 0);
  });
}

/** Whether a part is the last part of a reply. */
export function isReplyEnd({ kind }: ReplyPart): boolean {
  return kind === 'ended' || kind === 'asked' || kind === 'failed';
}

/** The failure in the body of a refusal; without such a body, the code is the status. */
export function readReplyRefusal(status: number, json: unknown): ReplyFailure {
  const read = z.looseObject({ error: errorSchema }).safeParse(json);
  return read.success ? failureOf(status, read.data.error) : { code: String(status), message: '' };
}

/**
 * Whether the refusal of `message:stream` states that the agent does not stream: it has the A2A reason for this case,
 * or the process of the agent has no such path. An error code of the gateway is never read in this way.
 */
export function saysNoStreams(status: number, json: unknown): boolean {
  const read = z.looseObject({ error: errorSchema }).safeParse(json);
  const details = read.success ? (read.data.error.details ?? []) : [];
  const own = details.find(({ domain }) => domain === 'portcullis');
  if (own !== undefined) return own.reason === 'UnsupportedOperationError';
  return details.some(({ reason }) => reason === 'UNSUPPORTED_OPERATION') || [404, 405, 501].includes(status);
}

function failureOf(status: number | undefined, { message, details = [] }: z.output<typeof errorSchema>): ReplyFailure {
  const code = details.find(({ domain }) => domain === 'portcullis')?.reason ?? details[0]?.reason;
  return { code: code ?? (status === undefined ? 'upstream_error' : String(status)), message };
}

function artifactParts({ artifactId, parts }: Artifact, append: boolean): readonly ReplyPart[] {
  if (artifactId === undefined) return partsOf(parts);
  return [...(append ? [] : [{ kind: 'artifact', artifactId } as const]), ...partsOf(parts, { artifactId })];
}

function partsOf(parts: Parts, of: OfArtifact = {}): readonly ReplyPart[] {
  return parts.flatMap(({ text, data, raw, url, filename, mediaType }): readonly ReplyPart[] => [
    ...(text === undefined ? [] : [{ kind: 'text', text, ...of } as const]),
    ...(data === undefined ? [] : [{ kind: 'data', data, ...of } as const]),
    ...(raw === undefined && url === undefined
      ? []
      : [{ kind: 'file', name: filename || url || mediaType || 'application/octet-stream', ...of } as const]),
  ]);
}

/** The message of a failed task has the stable code as data, or a text of the agent. */
function endOf(status: Status | undefined): readonly ReplyPart[] {
  if (status === undefined || openStates.has(status.state)) return [];
  const { state, message } = status;
  if (state === 'TASK_STATE_COMPLETED') return [{ kind: 'ended' }];
  const parts = message?.parts ?? [];
  if (state === 'TASK_STATE_INPUT_REQUIRED') return [...partsOf(parts), { kind: 'asked' }];
  for (const { data } of parts) {
    const read = failureSchema.safeParse(data);
    if (read.success) return [{ kind: 'failed', code: read.data.code, message: read.data.message }];
  }
  const text = parts.flatMap((part) => part.text ?? []).join('\n');
  return [{ kind: 'failed', code: state, message: text === '' ? 'The task did not complete.' : text }];
}
