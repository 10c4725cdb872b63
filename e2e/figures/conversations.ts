import { Agent, fetch } from 'undici';
import type { Bundle } from '#contracts/bundle';
import { until } from '#kit/testing/until';
import { bundleOf, masking, stopList } from '../../runtime/testing/build-bundle.ts';
import { createRandom, type Random } from '../streaming/random.ts';
import type { Figure } from '../support/figure.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../support/start-guarded-gateway.ts';

type Turn = { readonly role: string; readonly content: string };
/** The result of a conversation: the messages that the model receives, or a deny. */
type Outcome = { readonly kind: 'forwarded'; readonly messages: readonly Turn[] } | { readonly kind: 'denied' };

const mostMessages = 400;
const forbidden = 'forbidden-portal';
const secret = 'secret-4711';

export const figure: Figure = {
  name: 'conversations',
  title:
    'conversations of 1 to 400 messages with longConversations Split, compared with each group of messages judged separately',
  coveredBy: 'dataplane/gateway/http/long-conversations.test.ts',
  run: async (size, say) => {
    const bundle = bundleOf([stopList('denied', [forbidden]), masking(stopList('masked', [secret]), '***')]);
    await using world = await startGuardedGateway({
      bundle,
      change: (route) => ({ ...route, longConversations: 'Split' }),
    });
    await using stack = new AsyncDisposableStack();
    const agent = stack.adopt(new Agent(), (one) => one.close());
    await until('the gateway serves the route', async () => (await chat(world, agent, [user('hi')])).status === 200);
    const count = size === 'full' ? 10_000 : 100;
    const counts = { messages: 0, groups: 0, denied: 0, masked: 0 };
    const differences: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const turns = conversation(createRandom(31_000_003 + index));
      const groups = groupsOf(turns, bundle);
      const byHand = await judgeByHand(world, agent, groups);
      const through = await judgeThrough(world, agent, turns);
      if (JSON.stringify(byHand) !== JSON.stringify(through)) differences.push(`conversation ${index}`);
      counts.messages += turns.length;
      counts.groups += groups.length;
      if (byHand.kind === 'denied') counts.denied += 1;
      else if (JSON.stringify(byHand.messages) !== JSON.stringify(turns)) counts.masked += 1;
      if (index % 1_000 === 999) say(`${index + 1} conversations`);
    }
    for (const difference of differences.slice(0, 20)) say(difference);
    const line =
      `${count} conversations of 1 to ${mostMessages} messages (${counts.messages} messages in ${counts.groups} groups; ` +
      `${counts.denied} denied, ${counts.masked} masked): ${differences.length} differ from their groups judged separately`;
    return { holds: differences.length === 0 && counts.denied > 0 && counts.masked > 0, line };
  },
};

function user(content: string): Turn {
  return { role: 'user', content };
}

/** A short or a long conversation with equal probability; one of four has a forbidden word, and most have secrets. */
function conversation(random: Random): readonly Turn[] {
  const length = random.between(1, random.pick([3, 33, 65, mostMessages]));
  const bad = random.chance(25) ? random.below(length) : -1;
  return Array.from({ length }, (_, at) => {
    const role = random.pick(['user', 'assistant', 'system']);
    if (at === bad) return { role, content: `go to ${forbidden} now` };
    return { role, content: random.chance(5) ? `my ${secret}, ${secret} "\n` : clean(random) };
  });
}

/** Text of a length at which groups end by messages or by bytes, with characters that JSON escapes. */
function clean(random: Random): string {
  const unit = random.pick(['fine words ', 'хорошо "да"\n', '漢字 \u0001']);
  return unit.repeat(random.chance(90) ? random.between(1, 20) : random.between(1, 900)).trim();
}

/** Whole messages in their order, in groups with as many messages as one check may have. */
function groupsOf(turns: readonly Turn[], { limits }: Bundle): readonly (readonly Turn[])[] {
  const groups: Turn[][] = [];
  for (const turn of turns) {
    const longer = [...(groups.at(-1) ?? []), turn];
    const fits = longer.length <= limits.maxMessages && Buffer.byteLength(bodyOf(longer)) <= limits.maxBodyBytes;
    if (groups.length > 0 && fits) groups.at(-1)?.push(turn);
    else groups.push([turn]);
  }
  return groups;
}

function bodyOf(messages: readonly Turn[]): string {
  return JSON.stringify({ body: { messages } });
}

/** Calls the runtime for each group and joins the answers. */
async function judgeByHand(
  { runtime, route, runtimeToken }: GuardedGateway,
  dispatcher: Agent,
  groups: readonly (readonly Turn[])[],
): Promise<Outcome> {
  if (route.guardrail.mode !== 'Policy') throw new Error('the route has to be guarded');
  const headers = {
    ...route.guardrail.headers,
    authorization: `Bearer ${runtimeToken}`,
    'content-type': 'application/json',
    'x-ap-gr-response-mode': 'buffered',
  };
  const messages: Turn[] = [];
  let isDenied = false;
  for (const group of groups) {
    const answer = await fetch(`${runtime.url}/request`, { method: 'POST', dispatcher, headers, body: bodyOf(group) });
    const { action } = (await answer.json()) as { action?: { reason: string; body?: { messages: Turn[] } } };
    if (answer.status !== 200 || action === undefined) throw new Error(`the runtime answered ${answer.status}`);
    if (action.reason === 'policy_denied') isDenied = true;
    messages.push(...(action.reason === 'content_redacted' ? (action.body?.messages ?? []) : group));
  }
  return isDenied ? { kind: 'denied' } : { kind: 'forwarded', messages };
}

async function judgeThrough(world: GuardedGateway, dispatcher: Agent, turns: readonly Turn[]): Promise<Outcome> {
  world.upstream.forget();
  const { status, body } = await chat(world, dispatcher, turns);
  const [seen] = world.upstream.seen;
  if (status === 403 && seen === undefined) return { kind: 'denied' };
  if (status !== 200 || seen === undefined) throw new Error(`the gateway answered ${status}: ${body}`);
  return { kind: 'forwarded', messages: (JSON.parse(seen.text) as { messages: Turn[] }).messages };
}

async function chat(world: GuardedGateway, dispatcher: Agent, messages: readonly Turn[]) {
  const answer = await fetch(`${world.url}/v1/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: alias, messages }),
  });
  return { status: answer.status, body: await answer.text() };
}
