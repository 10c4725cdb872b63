import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** How a client reads its stream: as the events arrive, a little at a time, or until it disconnects in the middle. */
export type Reader = 'quick' | 'slow' | 'vanishing';

export type StreamEnd = {
  readonly reader: Reader;
  readonly events: number;
  /** The fault of the stream; absent if there was none. A stream that its client left has no end. */
  readonly fault?: string;
};

type Call = {
  readonly url: string;
  readonly token: string;
  /** The id of the run, which each event must name. */
  readonly id: string;
  readonly reader: Reader;
  /** Called with the first event. */
  readonly onOpen: () => void;
  /** Whether a slow client reads the rest of its stream at full speed. */
  readonly isOver: () => boolean;
};

type Event = { readonly id: string; readonly at: number; readonly isLast: boolean };

/** Time between two reads of a slow client, each of at most 64 KiB, and the number of bytes of each of its events. */
const slow = { everyMs: 4_000, bytes: 65_536 } as const;
/** Events after which a client disconnects. */
const vanishesAfter = 5;

/** Reads one stream of the stub of an agent on its own connection. Never rejects. */
export async function readStubStream({ url, token, id, reader, onOpen, isOver }: Call): Promise<StreamEnd> {
  let events = 0;
  let answer: IncomingMessage | undefined;
  try {
    answer = await postOnce({ url, token, body: { id, bytes: reader === 'slow' ? slow.bytes : 0 } });
    if (answer.statusCode !== 200) return { reader, events, fault: `answered ${answer.statusCode}` };
    let rest = '';
    let isEnded = false;
    for await (const chunk of answer) {
      const parts = `${rest}${String(chunk)}`.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const event = JSON.parse(part.slice('data: '.length)) as Event;
        if (event.id !== id || event.at !== events || isEnded) return { reader, events, fault: 'mixed' };
        events += 1;
        isEnded = event.isLast;
        if (events === 1) onOpen();
      }
      if (reader === 'vanishing' && events >= vanishesAfter) return { reader, events };
      if (reader === 'slow' && !isOver()) await pause(slow.everyMs);
    }
    return isEnded ? { reader, events } : { reader, events, fault: 'broken off' };
  } catch (error) {
    return { reader, events, fault: error instanceof Error ? error.message : String(error) };
  } finally {
    answer?.destroy();
  }
}

/** Sends a request on a connection that is closed after its answer. */
export function postOnce({
  url,
  token,
  body,
}: {
  url: string;
  token: string;
  body: unknown;
}): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', agent: false, headers }, resolve).on('error', reject).end(JSON.stringify(body));
  });
}
