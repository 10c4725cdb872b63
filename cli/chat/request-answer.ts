import { CliError } from '../errors/cli-error.ts';
import { unreachableReason, unreachableRemedy } from '../errors/unreachable.ts';
import { patientFetch } from '../http/patient-fetch.ts';
import { type ChatReply, readBuffered, readStream } from './read-answer.ts';

type ChatRequest = {
  /** Origin of the gateway. */
  readonly gateway: string;
  readonly key: string;
  /** Body of `POST /v1/chat/completions`. */
  readonly body: { readonly model: string };
  /** Longest time in seconds without any part of the answer. */
  readonly timeoutSeconds: number;
  /** Called with each piece of the text. */
  readonly onText: (text: string) => void;
};

/** The answer, as far as it arrived, and the request id of the gateway. */
type ChatAnswer = { readonly reply: ChatReply; readonly requestId: string | null };

/**
 * Sends one chat request and reads its answer. An answer that pauses for longer than the timeout has the fault
 * `timeout` and the text that arrived before the pause.
 * @throws CliError timeout before the answer began, not_running
 */
export async function requestAnswer({ gateway, key, body, timeoutSeconds, onText }: ChatRequest): Promise<ChatAnswer> {
  const ms = timeoutSeconds * 1_000;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('no part of the answer', 'TimeoutError')), ms);
  const { signal } = deadline;
  const late = `The model ${body.model} sent nothing for ${timeoutSeconds} s, the request timeout. ${remedy}`;
  try {
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      signal,
    };
    const response = await patientFetch(`${gateway}/v1/chat/completions`, request, ms).catch((cause: unknown) => {
      if (signal.aborted) throw new CliError('timeout', late, { cause });
      throw notRunning(gateway, cause);
    });
    timer.refresh();
    const requestId = response.headers.get('x-request-id');
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.ok && isStream && response.body !== null) {
      const reply = await readStream(refreshing(response.body, timer), onText);
      return { requestId, reply: signal.aborted ? { ...reply, fault: { kind: 'timeout', message: late } } : reply };
    }
    const text = await response.text().catch((cause: unknown) => {
      if (signal.aborted) throw new CliError('timeout', late, { cause });
      throw notRunning(gateway, cause);
    });
    const reply = readBuffered(response.status, text);
    if (reply.text !== '') onText(reply.text);
    return { requestId, reply };
  } finally {
    clearTimeout(timer);
  }
}

const remedy = 'Raise --request-timeout, or see "portcullis status", which names a gateway that does not answer.';

async function* refreshing(body: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  for await (const part of body) {
    timer.refresh();
    yield part;
  }
}

function notRunning(gateway: string, cause: unknown): CliError {
  const reason = unreachableReason(cause, gateway);
  const sentence = `The gateway at ${gateway} does not answer: ${reason}. ${unreachableRemedy('gateway')}`;
  return new CliError('not_running', sentence, { cause });
}
