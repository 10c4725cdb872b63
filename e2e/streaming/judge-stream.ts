import { type MadeStream, type StreamField, testedCall } from './make-stream.ts';

/** The data that a client received. */
export type Received = { readonly status: number; readonly text: string };

type Delta = {
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly function: { readonly arguments?: string; readonly name?: string };
  }[];
};

/** The result of a stream for its client. */
type StreamVerdict =
  | { readonly kind: 'good' }
  /** A clean stream that was stopped by a rule. */
  | { readonly kind: 'false_stop' }
  | { readonly kind: 'bad'; readonly fault: string };

const denied = JSON.stringify({
  error: { message: 'Запрос отклонён политикой', type: 'guardrail_blocked', param: null, code: 'policy_denied' },
});

/**
 * Compares the stream that a client received with the stream that the provider sent: every byte of a frame is the same
 * except for its model, which is the alias that the client requested.
 */
export function judgeStream(sent: MadeStream, alias: string, received: Received): StreamVerdict {
  if (received.status !== 200) return bad(`status ${received.status}`);
  const events = readEvents(received.text);
  if (sent.api === 'responses' && events.at(-1) !== denied) events.push('[DONE]');
  const stream = { ...sent, payloads: sent.payloads.map((data) => withAlias(data, alias)) };
  return stream.forbidden === undefined ? judgeClean(stream, events) : judgeForbidden(stream, events);
}

function withAlias(data: string, alias: string): string {
  return data.replace(/("model": ?)"m"/, (_, name: string) => `${name}"${alias}"`);
}

function judgeClean(stream: MadeStream, events: readonly string[]): StreamVerdict {
  if (events.at(-1) === denied) return { kind: 'false_stop' };
  if (events.at(-1) !== '[DONE]') return bad('a clean stream without [DONE]');
  const payloads = events.slice(0, -1);
  if (payloads.length !== stream.payloads.length) return bad('a clean stream with frames missing or added');
  const different = findDifferent(stream, payloads);
  return different < 0 ? { kind: 'good' } : bad(`frame ${different} differs from the frame that was sent`);
}

function judgeForbidden(stream: MadeStream, events: readonly string[]): StreamVerdict {
  if (stream.forbidden === undefined) throw new Error('the stream is marked clean and has a forbidden phrase');
  if (events.includes('[DONE]')) return bad('a stopped stream with [DONE]');
  if (events.at(-1) !== denied) return bad('a stop without its error');
  const payloads = events.slice(0, -1);
  if (findDifferent(stream, payloads) >= 0) return bad('a frame differs from the frame that was sent');
  const emitted = payloads.map((data) => textOf(data, stream.field)).join('');
  if (!stream.text.startsWith(emitted)) return bad('the text differs from the text that was sent');
  const leaked = emitted.length - stream.forbidden.stop;
  return leaked > 0 ? bad(`${leaked} characters of the phrase were sent to the client`) : { kind: 'good' };
}

/**
 * The first frame that was not sent, or is not in its place; -1 if there is no such frame. If further texts of a chat
 * are judged, frames of other members may be sent before frames of a paused text; the frames of one member keep their
 * order.
 */
function findDifferent({ api, isJudgedOnRequest, payloads: sent }: MadeStream, payloads: readonly string[]): number {
  if (api === 'responses' || !isJudgedOnRequest) return payloads.findIndex((data, index) => data !== sent[index]);
  const left = Map.groupBy(sent, membersOf);
  return payloads.findIndex((data, index) => {
    const isLast = data === sent.at(-1);
    return left.get(membersOf(data))?.shift() !== data || (isLast && index < sent.length - 1);
  });
}

/** The members of the delta of a chunk with a text. */
function membersOf(data: string): string {
  const { choices } = JSON.parse(data) as { readonly choices: readonly { readonly delta: object }[] };
  const delta = choices[0]?.delta ?? {};
  return Object.entries(delta)
    .filter(([, value]) => value !== '')
    .map(([key]) => key)
    .join(' ');
}

function bad(fault: string): StreamVerdict {
  return { kind: 'bad', fault };
}

/** The data of each event, parsed according to the standard of server-sent events. */
function readEvents(text: string): string[] {
  const events = text.split('\n\n');
  if (events.pop() !== '') return ['the stream ends inside of an event'];
  return events.flatMap((event) => {
    const lines = event.split('\n').filter((line) => !/^(?::|event: response\.)/.test(line));
    if (lines.length === 0) return [];
    if (!lines.every((line) => line.startsWith('data: '))) return ['an event with other fields than data'];
    return [lines.map((line) => line.slice('data: '.length)).join('\n')];
  });
}

/** A text, or a list of parts. */
type Member = string | null | undefined | readonly { readonly text?: string }[];

function textOfMember(member: Member): string {
  return Array.isArray(member) ? member.map(({ text }) => text ?? '').join('') : ((member as string | null) ?? '');
}

/** The piece of the field in one chunk or event. */
function textOf(data: string, field: StreamField): string {
  const chunk = JSON.parse(data) as {
    readonly type?: string;
    readonly delta?: string;
    readonly choices?: readonly { readonly delta: Delta }[];
  };
  if (chunk.type !== undefined) return chunk.type === field ? (chunk.delta ?? '') : '';
  const delta = chunk.choices?.[0]?.delta ?? {};
  if (field !== 'arguments' && field !== 'name')
    return textOfMember((delta as Readonly<Record<string, Member>>)[field]);
  const pieces = (delta.tool_calls ?? []).map(({ index, function: called }) =>
    index === testedCall ? (called[field] ?? '') : '',
  );
  return pieces.join('');
}
