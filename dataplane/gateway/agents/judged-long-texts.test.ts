import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { checkBytes } from '#checks/batch-messages';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage, terms } from './testing/start-judged-image.ts';

type Image = Awaited<ReturnType<typeof startJudgedImage>>;
type Target = NonNullable<Parameters<typeof startJudgedImage>[1]>;

const maxBodyBytes = 32_768;
/** A text that is larger than one check, with white space. */
const long = 'word '.repeat(8_000);
/** A text with as many bytes as one check can have. */
const fitting = 'w'.repeat(maxBodyBytes - checkBytes({ role: 'user', content: '' }));
const fittingAnswer = 'w'.repeat(maxBodyBytes - checkBytes({ role: 'assistant', content: '' }, 'response'));

let world: AgentPlaneWorld;
let image: Image;
let answer: unknown;

beforeAll(async () => {
  world = await startAgentPlane();
  world.allow('ann', 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  answer = messageOf('fine');
});

const messageOf = (...texts: readonly string[]): object => ({
  message: { messageId: randomUUID(), role: 'ROLE_AGENT', parts: texts.map((text) => ({ text })) },
});

async function serve(target: Target): Promise<void> {
  image = await startJudgedImage(world, target);
  const own = image;
  onTestFinished(() => own[Symbol.asyncDispose]());
  image.play((response) => void response.end(JSON.stringify(answer)));
  const { limits } = routedVersion(image.process);
  await image.serve('A2A', { limits: { ...limits, requestBytes: 1_048_576 } });
}

/**
 * Sends these parts. @returns the status, the code, the hint to repeat the call, the answer and the text that reached
 * the process
 */
async function send(...parts: readonly object[]) {
  image.process.forget();
  const token = await world.personToken('ann');
  const body = JSON.stringify({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts } });
  const given = await world.call(`/agents/${agentId}/message:send`, { token, body });
  const text = await given.text();
  const [, code] = /"code":"([a-z_]+)"/.exec(text) ?? [];
  const sent = image.process.seen.filter(({ headers }) => headers.authorization !== undefined).map((one) => one.text);
  return { status: given.status, code, retry: given.headers.get('retry-after'), text, sent };
}

const tooLarge = { status: 413, code: 'request_too_large', retry: null, sent: [] };

test('a text that is larger than one check reaches an image completely, masked where the policy masks it', async () => {
  await serve({ division: 'Pieces' });
  const masked = await send({ text: `${long}${terms.masked} end` });
  expect([masked.status, masked.sent[0]?.includes(`${long}*** end`)]).toEqual([200, true]);
  const denied = await send({ data: { note: `${long}${terms.denied}` } });
  expect([denied.status, denied.code, denied.sent]).toEqual([403, 'guardrail_denied', []]);
  expect(await send({ text: `${fitting}w` })).toMatchObject(tooLarge);
});

test.each([{ division: 'Whole' as const }, {}])(
  'a text that is larger than one check is permanently refused where the policy needs the whole text: %j',
  async (target) => {
    await serve(target);
    expect(await send({ text: fitting })).toMatchObject({ status: 200 });
    expect(await send({ text: `${fitting}w` })).toMatchObject(tooLarge);
    expect(await send({ text: long })).toMatchObject(tooLarge);
  },
);

test.each(['word '.repeat(200), 'word '.repeat(5_000)])(
  'a denied phrase longer than a window is found over two parts of a message or of an answer: %#',
  async (around) => {
    const [begin, end] = [`${around}alpha${' x'.repeat(150)}`, `${' x'.repeat(150)} omega ${around}`];
    await serve({ division: 'Pieces', streaming: 'Whole' });
    for (const texts of [[begin + end], [begin, end], [begin, end.slice(1)]]) {
      const denied = await send(...texts.map((text) => ({ text })));
      expect([denied.status, denied.code, denied.sent]).toEqual([403, 'guardrail_denied', []]);
    }
    const masked = await send({ text: `${begin} ${terms.masked}` }, { text: `${terms.masked}${end}` });
    expect([masked.status, masked.sent[0]?.includes(`${begin} ***"},{"text":"***${end}`)]).toEqual([200, true]);
    answer = messageOf(begin, end);
    const refused =
      around.length < 5_000 ? { status: 403, code: 'guardrail_denied' } : { status: 502, code: 'answer_refused' };
    expect(await send({ text: 'hello' })).toMatchObject(refused);
  },
);

test('two parts of a message that are together larger than one check are refused where the policy needs the whole text', async () => {
  await serve({ division: 'Whole' });
  const [one, other] = [fitting.slice(0, 20_000), fitting.slice(20_000 + '\\n'.length)];
  expect(await send({ text: one }, { text: other })).toMatchObject({ status: 200 });
  expect(await send({ text: one }, { text: `${other}w` })).toMatchObject(tooLarge);
});

test('a text of an answer that is larger than one check is judged in windows, where a mask denies', async () => {
  await serve({ streaming: 'Windows' });
  answer = messageOf(`${long}end`);
  const passed = await send({ text: 'hello' });
  expect([passed.status, passed.text.includes(`${long}end`)]).toEqual([200, true]);
  for (const term of [terms.denied, terms.masked]) {
    answer = messageOf(`${long}${term} ${long}`);
    const denied = await send({ text: 'hello' });
    expect([denied.status, denied.code, denied.text.includes(term)]).toEqual([403, 'guardrail_denied', false]);
  }
});

test('two parts of an answer that are together larger than one check are masked one by one where the policy judges windows', async () => {
  await serve({ streaming: 'Windows' });
  const half = 'word '.repeat(5_000);
  answer = messageOf(`${half}${terms.masked}`, `${half}end`);
  const masked = await send({ text: 'hello' });
  expect([masked.status, masked.text.includes(`${half}***`)]).toEqual([200, true]);
});

test('a text of an answer that is larger than one check is permanently refused where the policy needs the whole text', async () => {
  await serve({ streaming: 'Whole' });
  answer = messageOf(fittingAnswer);
  expect(await send({ text: 'hello' })).toMatchObject({ status: 200 });
  answer = messageOf(`${fittingAnswer}w`);
  expect(await send({ text: 'hello' })).toMatchObject({ status: 502, code: 'answer_refused', retry: null });
});

test('a message of an image needs at most 1,024 checks, in both directions', async () => {
  await serve({ maxMessages: 1 });
  const items = (count: number): object => ({ data: { list: Array.from({ length: count }, () => 'w') } });
  // The name of the member counts as a text, too.
  expect(await send(items(1_023))).toMatchObject({ status: 200 });
  expect(await send(items(1_024))).toMatchObject(tooLarge);
  answer = { message: { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [items(1_023)] } };
  expect(await send({ text: 'hello' })).toMatchObject({ status: 200 });
  answer = { message: { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [items(1_024)] } };
  expect(await send({ text: 'hello' })).toMatchObject({ status: 502, code: 'answer_refused', retry: null });
});
