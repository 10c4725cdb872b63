import { type Conversation, openConversation } from './converse.ts';
import { type Batch, makeBatches } from './make-batches.ts';
import { judgedOf, judgeReply, noteRefusedConnection, type Tally } from './tally.ts';

type Sending = {
  readonly port: number;
  readonly digest: string;
  readonly seed: number;
  /** Total number of mutated requests to judge. */
  readonly requests: number;
  readonly tally: Tally;
  /** Called after each batch; false stops the run. */
  readonly goesOn: (connections: number) => boolean;
  readonly patienceMs?: number;
};

const workers = 12;

/**
 * Sends mutated requests over several connections concurrently and judges every answer. @returns the number of connections
 */
export async function sendChanged(sending: Sending): Promise<number> {
  const { port, digest, seed, requests, tally, goesOn, patienceMs } = sending;
  let connections = 0;
  let round = 0;
  let stopped = false;

  function isDone(): boolean {
    stopped ||= judgedOf(tally) >= requests || !goesOn(connections);
    return stopped;
  }

  async function work(): Promise<void> {
    const waiting: Batch[] = [];
    while (!isDone()) {
      using conversation = await openConversation(port, patienceMs).catch(() => undefined);
      if (conversation === undefined) {
        noteRefusedConnection(tally);
        return;
      }
      connections += 1;
      do {
        if (waiting.length === 0) waiting.push(...makeBatches(seed, round++, digest));
        const batch = waiting.shift();
        if (batch === undefined || !(await exchange(conversation, batch, tally))) break;
      } while (!isDone());
    }
  }

  await Promise.all(Array.from({ length: workers }, work));
  return connections;
}

/** Whether the connection to the runtime can be reused for the next request. */
async function exchange(conversation: Conversation, batch: Batch, tally: Tally): Promise<boolean> {
  const heads = batch.sent.flatMap(({ foretold }) => foretold.expected.map(({ head }) => head));
  const reply = await conversation.say(batch.pieces, heads, batch.half);
  judgeReply(tally, batch, reply);
  return batch.again && !reply.ended && !reply.stuck && reply.broken === undefined;
}
