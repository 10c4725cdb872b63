import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { type OpenedMemory, startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import { type GeneratedDialogue, generateDialogues } from '../memory/generate-dialogues.ts';
import type { Figure } from '../support/figure.ts';

/** Contradictions are made until as many of them count: those whose first fact was remembered. */
const full = { facts: 300, contradictions: 200, smallTalk: 100 };
const sizes = {
  small: {
    usual: { facts: 30, contradictions: 20, smallTalk: 20 },
    other: { facts: 10, contradictions: 10, smallTalk: 20 },
  },
  full: { usual: full, other: full },
} as const;
/** Maximum number of contradictions that are generated for one that counts. */
const tries = 2;
const seed = 20;
/** Upper bound of the remembered facts for each small-talk message of a user. */
const mostSmallTalk = 0.02;

type Counts = {
  stated: number;
  remembered: number;
  again: number;
  recalled: number;
  replacedKnown: number;
  replacedReturned: number;
  historyMissing: number;
  chatMessages: number;
  chatFacts: number;
};

/**
 * Smallest share of the stated facts that must be remembered: a store that keeps nothing would never return a corrected
 * fact.
 */
const leastRemembered = { usual: 0.75, other: 0.55 } as const;
type Talk = keyof typeof leastRemembered;

export const figure: Figure = {
  name: 'memory-dialogues',
  title:
    'dialogues in Russian and English without a model: 0 new facts when they are sent again with their search results; no ' +
    'corrected fact returned; at most 2 % of small talk kept, also of small talk in other words',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    await using memory = await startMemory(await server.createDatabase());
    const usual = await judgeAll(memory, size, 'usual', say);
    const other = await judgeAll(memory, size, 'other', say);
    return {
      holds: usual.holds && other.holds,
      line: `${usual.line}; with small talk in other words, tag questions and quotations: ${other.line}`,
    };
  },
};

async function judgeAll(memory: OpenedMemory, size: keyof typeof sizes, talk: Talk, say: (line: string) => void) {
  const counts: Counts = {
    ...{ stated: 0, remembered: 0, again: 0, recalled: 0 },
    ...{ replacedKnown: 0, replacedReturned: 0, historyMissing: 0, chatMessages: 0, chatFacts: 0 },
  };
  const { contradictions } = sizes[size][talk];
  const dialogues = generateDialogues(seed, { ...sizes[size][talk], contradictions: tries * contradictions }, talk);
  let judged = 0;
  for (const [at, dialogue] of dialogues.entries()) {
    if (dialogue.kind === 'contradiction' && counts.replacedKnown === contradictions) continue;
    judged += 1;
    await judge(memory, dialogue, { user: `${talk}-${at}` }, counts);
    if (at % 100 === 99) say(`${at + 1} dialogues with ${talk} small talk`);
  }
  const { again, recalled, replacedReturned, historyMissing, chatMessages, chatFacts } = counts;
  const share = chatFacts / Math.max(1, chatMessages);
  return {
    holds:
      again + recalled + historyMissing + replacedReturned === 0 &&
      counts.remembered >= leastRemembered[talk] * counts.stated &&
      counts.replacedKnown === contradictions &&
      share <= mostSmallTalk,
    line:
      `${judged} dialogues: ${counts.remembered} of ${counts.stated} stated facts remembered; ${again} new facts ` +
      `when sent again, ${recalled} from recalled memories; of ${counts.replacedKnown} remembered and then corrected ` +
      `facts ${replacedReturned} were still returned, ${historyMissing} without history; ${chatFacts} facts from ${chatMessages} messages of small talk`,
  };
}

type Caller = { readonly user: string };
type HistoryEntry = { readonly event: string; readonly old_memory: string | null; readonly new_memory: string | null };
type ListedFact = { readonly id: string; readonly memory: string };

async function judge(memory: OpenedMemory, dialogue: GeneratedDialogue, caller: Caller, counts: Counts): Promise<void> {
  const add = (messages: readonly object[]) => memory.add(caller, { agent_id: 'tutor', messages });
  // For a contradiction each message is a separate add, so that the first fact is stored before it is corrected.
  const adds = dialogue.kind === 'contradiction' ? dialogue.messages.map((one) => [one]) : [dialogue.messages];
  const everKnown: ListedFact[] = [];
  for (const messages of adds) {
    await add(messages);
    everKnown.push(...(await records(memory, caller)));
  }
  const known = await records(memory, caller);
  if (dialogue.kind === 'small talk') {
    counts.chatMessages += dialogue.messages.filter(({ role }) => role === 'user').length;
    counts.chatFacts += known.length;
    return;
  }
  counts.stated += dialogue.stated.length;
  counts.remembered += dialogue.stated.filter((words) => known.some((one) => has(one, words))).length;
  if (dialogue.replaced !== undefined)
    await judgeCorrection(memory, { caller, known, everKnown }, dialogue.replaced, counts);
  // A dialogue with a correction states the old fact again, and corrects it again: no text is new.
  const before = new Set([...everKnown, ...known].map((one) => one.memory));
  for (const messages of adds) counts.again += await newFacts(memory, caller, await add(messages), before);
  const found = await memory.find(caller, dialogue.stated.join(' '));
  const recalled = [
    ...found.map((content) => ({ role: 'user', content })),
    { role: 'user', content: found.map((one) => `- ${one}`).join('\n') || '-' },
    { role: 'assistant', content: `I remember: ${found.join('. ')}` },
  ];
  for (const message of recalled) counts.recalled += changesOf(await add([message])).length;
}

type Decided = { readonly decision: string; readonly memory_id: string };

/** Decisions of an event that store a text. */
function changesOf(event: Readonly<Record<string, unknown>>): readonly Decided[] {
  const decisions = event['decisions'] as readonly Decided[];
  return decisions.filter(({ decision }) => decision === 'ADD' || decision === 'UPDATE');
}

/** Number of stored texts of an event that were not known before, whether added or as a replacement. */
async function newFacts(
  memory: OpenedMemory,
  caller: Caller,
  event: Readonly<Record<string, unknown>>,
  before: ReadonlySet<string>,
): Promise<number> {
  if (changesOf(event).length === 0) return 0;
  return (await records(memory, caller)).filter((one) => !before.has(one.memory)).length;
}

async function judgeCorrection(
  memory: OpenedMemory,
  {
    caller,
    known,
    everKnown,
  }: { readonly caller: Caller; readonly known: readonly ListedFact[]; readonly everKnown: readonly ListedFact[] },
  replaced: string,
  counts: Counts,
): Promise<void> {
  const before = everKnown.find((one) => has(one, replaced));
  if (before === undefined) return;
  counts.replacedKnown += 1;
  const returned = await memory.find(caller, replaced);
  // No other message of the dialogue, not even the correction, contains the word: a text with the word is the old fact.
  if (known.some((one) => has(one, replaced)) || returned.some((memory) => has({ memory }, replaced))) {
    counts.replacedReturned += 1;
    return;
  }
  const { json } = await memory.call(caller, 'GET', `/v1/memories/${before.id}/history`);
  const entries = json as unknown as readonly HistoryEntry[];
  const isEnd = ({ old_memory: old, new_memory: text }: HistoryEntry): boolean =>
    old !== null && has({ memory: old }, replaced) && (text === null || !has({ memory: text }, replaced));
  if (entries[0]?.event !== 'ADD' || !entries.some(isEnd)) {
    counts.historyMissing += 1;
  }
}

async function records(memory: OpenedMemory, caller: Caller): Promise<readonly ListedFact[]> {
  const { json } = await memory.call(caller, 'GET', `/v1/memories?user_id=${caller.user}&page_size=200`);
  return json['results'] as readonly ListedFact[];
}

function has({ memory }: Pick<ListedFact, 'memory'>, words: string): boolean {
  return memory.toLowerCase().includes(words.toLowerCase());
}
