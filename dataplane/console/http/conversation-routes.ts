import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { isReplyEnd, type ReplyPart } from '#contracts/a2a-reply';
import { agentRecordSchema } from '#contracts/catalogue';
import { converse } from '../clients/agent-conversation.ts';
import type { PersonHeaders, TenantApi } from '../clients/tenant-api.ts';
import { conversation, longestMessage, turnBegin, turnPart, wholeTurn } from '../pages/agent-conversation.ts';
import { notice, refusalNotice } from '../pages/notice.ts';
import { agentIdForm } from './agent-forms.ts';
import { answerPage, answerPart, isOfScript } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readForm } from './read-form.ts';
import { streamEvents } from './stream-events.ts';

type ConversationRoutes = {
  readonly apiOf: (context: ConsoleContext) => TenantApi;
  /** The gateway that serves agents. */
  readonly gateway: URL;
  readonly personOf: (context: ConsoleContext) => PersonHeaders;
  readonly stopping: AbortSignal;
};

/** Longest turn of a page without the script, milliseconds: such a page shows nothing until the end of the turn. */
const wholeTurnMs = 120_000;
/** Maximum number of characters of an answer on a page without the script. */
const mostOfAnswer = 1_000_000;

/** A turn of a conversation with an agent, as a stream of parts of the page. The conversation is not stored. */
export function addConversationRoutes(app: Hono<ConsoleEnvironment>, options: ConversationRoutes): void {
  const { apiOf, gateway, personOf, stopping } = options;

  app.post(`/agents/${agentIdForm}/chat`, async (context) => {
    const page = context.get('page');
    const { words } = page;
    const { agentPages: own } = words;
    const agentId = context.req.param('id').toLowerCase();
    const link = { href: `/agents/${agentId}`, label: own.agent };
    const { text = '', context: contextId = '', taskId = '' } = await readForm(context);
    if (text.trim() === '' || text.length > longestMessage) {
      const refused = { kind: 'error', title: own.messageRefused, text: own.messageForm(longestMessage) } as const;
      return answerPart(context, { title: own.chat, part: notice(refused), link });
    }
    const record = await apiOf(context).call(`/api/v1/agents/${agentId}`, agentRecordSchema);
    if (record.kind !== 'value') {
      return answerPart(context, { title: own.chat, part: refusalNotice(words, record), link });
    }
    const turn = {
      agent: new URL(`/agents/${agentId}`, gateway),
      headers: personOf(context),
      text,
      contextId: contextId === '' ? undefined : contextId,
      taskId: taskId === '' ? undefined : taskId,
    };
    const sides = { person: context.get('session').subject, agent: record.value.name, text };
    if (!isOfScript(context)) {
      const signal = AbortSignal.any([stopping, context.req.raw.signal, AbortSignal.timeout(wholeTurnMs)]);
      const { events, isCut } = await collectTurn(converse({ ...turn, signal }));
      const shown = wholeTurn(words, { ...sides, events, isCut });
      const begun = events.find((event) => event.kind === 'begun');
      const next = nextTask(events, turn.taskId) ?? '';
      const main = conversation(page, agentId, { shown, contextId: begun?.contextId ?? contextId, taskId: next });
      return answerPage(context, { title: record.value.name, main });
    }
    const id = randomUUID();
    async function* parts(signal: AbortSignal): AsyncGenerator<string> {
      yield String(await turnBegin(words, { id, ...sides }));
      let begun: ReplyPart | undefined;
      const artifacts: string[] = [];
      for await (const event of converse({ ...turn, signal })) {
        if (event.kind === 'begun') begun = event;
        const taskId = nextTask(begun === undefined ? [event] : [begun, event], turn.taskId);
        yield String(await turnPart(words, { id, taskId, artifacts }, event));
      }
    }
    return streamEvents(context, parts, stopping);
  });
}

/**
 * The task that the next message belongs to: the task that requested it. A message that was refused before it reached
 * the agent does not answer the question of the task.
 */
function nextTask(events: readonly ReplyPart[], answered: string | undefined): string | undefined {
  const begun = events.find((event) => event.kind === 'begun');
  const end = events.at(-1)?.kind;
  if (end === 'asked') return begun?.taskId ?? answered;
  return end === 'failed' && begun === undefined ? answered : undefined;
}

/** The events of a turn until its end. If the answer is too long, `isCut` is true and the turn is ended. */
async function collectTurn(
  turn: AsyncGenerator<ReplyPart>,
): Promise<{ readonly events: readonly ReplyPart[]; readonly isCut: boolean }> {
  const events: ReplyPart[] = [];
  let left = mostOfAnswer;
  for await (const event of turn) {
    if (event.kind === 'text') left -= event.text.length;
    if (event.kind === 'file') left -= event.name.length;
    if (event.kind === 'data') left -= JSON.stringify(event.data).length;
    if (left < 0) return { events, isCut: true };
    events.push(event);
  }
  return { events, isCut: !events.some(isReplyEnd) };
}
