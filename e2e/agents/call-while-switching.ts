import { agentId } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';

/** How a call ended for its client. */
export type CallEnd = {
  readonly id: string;
  readonly begun: number;
  readonly ended: number;
  readonly result:
    | { readonly kind: 'whole'; readonly version: string }
    /** The call was refused, or broken off with a last event that gives the reason. */
    | { readonly kind: 'typed'; readonly code: string }
    | { readonly kind: 'untyped'; readonly why: string };
};

type Event = { readonly id: string; readonly version: string; readonly at: number; readonly isLast: boolean };

/** Sends one run through the gateway and reads its answer. Never rejects. */
export async function callAgent(
  gateway: string,
  { id, kind, token }: { readonly id: string; readonly kind: 'send' | 'stream'; readonly token: string },
): Promise<CallEnd> {
  const begun = performance.now();
  const result = await resultOf().catch((error: unknown) => ({ kind: 'untyped' as const, why: String(error) }));
  return { id, begun, ended: performance.now(), result };

  async function resultOf(): Promise<CallEnd['result']> {
    const answer = await fetch(`${gateway}/agents/${agentId}/message:${kind}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` },
      body: JSON.stringify({ id }),
    });
    const text = await answer.text();
    if (answer.status !== 200) return typed(text);
    return kind === 'stream' ? readEvents(text, id) : readWhole(text, id);
  }
}

function readWhole(text: string, id: string): CallEnd['result'] {
  const { id: answered, version } = JSON.parse(text) as Event;
  return answered === id ? { kind: 'whole', version } : { kind: 'untyped', why: 'the answer of another run' };
}

function readEvents(text: string, id: string): CallEnd['result'] {
  const events = text.split('\n\n').filter((event) => event !== '');
  const last = events.at(-1) ?? '';
  if (last.startsWith('event: error\n')) return typed(last.slice(last.indexOf('data: ') + 6));
  const read = events.map((event) => JSON.parse(event.slice('data: '.length)) as Event);
  const version = read[0]?.version ?? '';
  const isOne = read.every((event, at) => event.id === id && event.version === version && event.at === at);
  if (!isOne) return { kind: 'untyped', why: 'events of several runs, or in another order' };
  return read.at(-1)?.isLast === true ? { kind: 'whole', version } : { kind: 'untyped', why: 'the stream has no end' };
}

/** The code of a google.rpc.Status. @throws Error for another text */
function typed(text: string): CallEnd['result'] {
  const { error } = JSON.parse(text) as {
    readonly error: { readonly details: readonly { readonly reason?: string }[] };
  };
  const code = error.details[0]?.reason;
  if (code === undefined) throw new Error('an error without a reason');
  return { kind: 'typed', code };
}
