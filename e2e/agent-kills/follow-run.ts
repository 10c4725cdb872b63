/** How a run ended for its client. `untyped` is a fault: the client cannot tell whether the run was complete. */
export type ClientEnd =
  | { readonly kind: 'answered' }
  /** The run ended with an error of the protocol, which has a code. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The connection broke before the end, so that the client can tell that the run has no result. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'untyped'; readonly why: string };

/** The caller, for a process in development mode. */
const ann = { 'x-tenant-id': 'default', 'x-user-id': 'ann' };

/** Sends one question as a message or as a stream, as the given caller. @returns how its run ended */
export async function followRun(
  origin: string,
  question: string,
  way: 'send' | 'stream',
  caller: Readonly<Record<string, string>> = ann,
): Promise<ClientEnd> {
  const message = { messageId: question, role: 'ROLE_USER', parts: [{ text: question }] };
  let status: number;
  let text: string;
  try {
    const answer = await fetch(`${origin}/message:${way}`, {
      method: 'POST',
      headers: { 'a2a-version': '1.0', 'content-type': 'application/json', ...caller },
      body: JSON.stringify({ message }),
    });
    status = answer.status;
    text = await answer.text();
  } catch {
    return { kind: 'broken' };
  }
  try {
    if (status !== 200) return refusalOf(JSON.parse(text));
    return way === 'send' ? answerOf(JSON.parse(text), question) : streamOf(text, question);
  } catch {
    return { kind: 'untyped', why: `status ${status} with a body that is no JSON` };
  }
}

type ErrorBody = {
  readonly error?: { readonly details?: readonly { readonly metadata?: { readonly code?: string } }[] };
};

function refusalOf(body: ErrorBody): ClientEnd {
  const code = body.error?.details?.[0]?.metadata?.code;
  return code === undefined ? { kind: 'untyped', why: 'an error without a code' } : { kind: 'refused', code };
}

type Answer = { readonly message?: { readonly parts: readonly { readonly text?: string }[] } };

function answerOf({ message }: Answer, question: string): ClientEnd {
  if (message?.parts[0]?.text === question) return { kind: 'answered' };
  return { kind: 'untyped', why: 'an answer that is not the one of the model' };
}

type StreamedEvent = {
  readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly { readonly text?: string }[] } };
  readonly statusUpdate?: {
    readonly status: {
      readonly state: string;
      readonly message?: { readonly parts: readonly { readonly data?: { readonly code?: string } }[] };
    };
  };
};

function streamOf(text: string, question: string): ClientEnd {
  const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
  // The last event of a gateway whose agent ended in the middle of the stream.
  const [, error] = /^event: error\ndata: (.*)$/.exec(frames.at(-1) ?? '') ?? [];
  if (error !== undefined) return refusalOf(JSON.parse(error));
  const events = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as StreamedEvent);
  const { state, message } = events.at(-1)?.statusUpdate?.status ?? { state: 'none' };
  const code = message?.parts[0]?.data?.code;
  if (state === 'TASK_STATE_FAILED' && code !== undefined) return { kind: 'refused', code };
  const given = events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts ?? [])[0]?.text;
  if (state === 'TASK_STATE_COMPLETED' && given === question) return { kind: 'answered' };
  return { kind: 'untyped', why: `a stream that ended regularly with the state ${state}` };
}
