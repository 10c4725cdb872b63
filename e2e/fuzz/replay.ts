// Sends one round of the fuzzer again and prints requests and answers. Usage: node e2e/fuzz/replay.ts SEED ROUND.
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { openConversation } from './converse.ts';
import { makeBatches } from './make-batches.ts';
import { startFuzzedRuntime } from './run-fuzz.ts';
import { emptyTally, judgeReply } from './tally.ts';

const [seed = Number.NaN, round = Number.NaN] = process.argv.slice(2).map(Number);
if (!Number.isInteger(seed) || !Number.isInteger(round)) throw new Error('usage: replay.ts SEED ROUND');
using folder = temporaryFolder();
const { runtime, digest } = await startFuzzedRuntime(folder.path);
await using _ = runtime;
for (const batch of makeBatches(seed, round, digest)) {
  using conversation = await openConversation(Number(new URL(runtime.url).port));
  const due = batch.sent.flatMap(({ foretold }) => foretold.expected);
  const reply = await conversation.say(
    batch.pieces,
    due.map(({ head }) => head),
    batch.half,
  );
  const tally = emptyTally();
  judgeReply(tally, batch, reply);
  for (const piece of batch.pieces) console.log(`sent ${JSON.stringify(piece.toString('latin1'))}`);
  for (const [index, { told }] of due.entries()) {
    const answer = reply.answers[index];
    const came = answer === undefined ? 'nothing' : `${answer.status} ${answer.body.toString('utf8')}`;
    console.log(`expected ${told.join(' or ')}, received ${came}`);
  }
  console.log(tally.examples.length === 0 ? 'nothing was found' : (tally.examples[0] ?? ''));
}
