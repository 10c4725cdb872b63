import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { agentRecordSchema } from '#contracts/catalogue';
import { converse } from '../clients/agent-conversation.ts';
import type { PersonHeaders, TenantApi } from '../clients/tenant-api.ts';
import { longestMessage, turnBegin, turnPart } from '../pages/agent-conversation.ts';
import { notice, refusalNotice } from '../pages/notice.ts';
import { agentIdForm } from './agent-forms.ts';
import { answerNotice, isOfScript } from './answer-page.ts';
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

/** A turn of a conversation with an agent, as a stream of parts of the page. Nothing of it is stored. */
export function addConversationRoutes(app: Hono<ConsoleEnvironment>, options: ConversationRoutes): void {
  const { apiOf, gateway, personOf, stopping } = options;

  app.post(`/agents/${agentIdForm}/chat`, async (context) => {
    const { words } = context.get('page');
    const { agentPages: own } = words;
    const agentId = context.req.param('id').toLowerCase();
    if (!isOfScript(context)) {
      const link = { href: `/agents/${agentId}`, label: own.chat };
      return answerNotice(context, 422, { title: own.messageRefused, text: own.messageScript, link });
    }
    const { text = '', context: contextId = '' } = await readForm(context);
    if (text.trim() === '' || text.length > longestMessage) {
      const refused = { kind: 'error', title: own.messageRefused, text: own.messageForm(longestMessage) } as const;
      return context.html(await notice(refused));
    }
    const record = await apiOf(context).call(`/api/v1/agents/${agentId}`, agentRecordSchema);
    if (record.kind !== 'value') return context.html(await refusalNotice(words, record));
    const turn = {
      agent: new URL(`/agents/${agentId}`, gateway),
      headers: personOf(context),
      text,
      contextId: contextId === '' ? undefined : contextId,
    };
    const id = randomUUID();
    const person = context.get('session').subject;
    async function* parts(signal: AbortSignal): AsyncGenerator<string> {
      yield String(
        await turnBegin(words, { id, person, agent: record.kind === 'value' ? record.value.name : '', text }),
      );
      for await (const event of converse({ ...turn, signal })) yield String(await turnPart(words, id, event));
    }
    return streamEvents(context, parts, stopping);
  });
}
