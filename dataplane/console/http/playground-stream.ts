import { setTimeout as pause } from 'node:timers/promises';
import type { Hono } from 'hono';
import { cutWindows } from '#checks/cut-windows';
import { policyDetailSchema } from '#contracts/management';
import { policyCheckLimits, policyCheckResultSchema } from '#contracts/policy-check';
import { refusalNotice } from '../pages/notice.ts';
import type { Markup } from '../pages/page.ts';
import { saidText } from '../pages/said-text.ts';
import { asOutcome, streamBegin, streamEnd, streamRefused, windowPassed } from '../pages/streamed-answer.ts';
import type { Words } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { readForm, readRepeated } from './read-form.ts';
import { streamEvents } from './stream-events.ts';

/** Pause between two windows, milliseconds: a model of this speed writes 2,000 bytes in a second. */
const windowPauseMs = 500;
const { max: mostWindows } = policyCheckLimits.checks;

/**
 * Adds the stream of the playground: its first text is judged in the windows of the gateway, like a streamed answer.
 * Nothing is stored.
 */
export function addPlaygroundStream(app: Hono<ConsoleEnvironment>, stopping: AbortSignal): void {
  app.post('/playground/stream', async (context) => {
    const { words } = context.get('page');
    const [{ policy = '', revision = '' }, texts] = await Promise.all([
      readForm(context),
      readRepeated(context, 'text'),
    ]);
    const windows = cutWindows((texts.find((text) => text !== '') ?? '').toWellFormed());
    if (windows.length === 0 || windows.length > mostWindows)
      return context.html(await refusal(words, words.play.streamForm(mostWindows), null));
    const api = context.get('management');
    const path = `/api/v1/guardrail-policies/${encodeURIComponent(policy)}/revisions/${encodeURIComponent(revision)}`;
    const found = await api.call(path, policyDetailSchema);
    if (found.kind !== 'value') return context.html(await asOutcome(refusalNotice(words, found)));
    const checks = windows.map(({ text }, at) => ({
      name: `window ${at + 1}`,
      stage: 'response' as const,
      messages: [{ role: 'assistant', content: text }],
    }));
    const body = { definition: found.value.definition, checks };
    const checked = await api.call('/api/v1/policy-checks', policyCheckResultSchema, {
      method: 'POST',
      body,
      timeoutMs: 45_000,
    });
    if (checked.kind !== 'value') return context.html(await asOutcome(refusalNotice(words, checked)));
    const { problems, streams, results } = checked.value;
    if (problems.length > 0) return context.html(await refusal(words, saidText(words, problems.join('; ')), null));
    if (!streams.allowed) return context.html(await refusal(words, words.play.streamNeedsWhole, streams.rule));
    return streamEvents(context, () => play(words, windows, results), stopping);
  });
}

function refusal(words: Words, text: string | Markup | Promise<Markup>, rule: string | null) {
  return streamRefused(words, { title: words.play.streamRefused, text, rule });
}

async function* play(
  words: Words,
  windows: ReturnType<typeof cutWindows>,
  results: ReturnType<typeof policyCheckResultSchema.parse>['results'],
): AsyncGenerator<string> {
  yield String(await streamBegin(words));
  let sent = '';
  for (const [at, window] of windows.entries()) {
    await pause(windowPauseMs);
    const result = results[at];
    if (result === undefined) return;
    const number = at + 1;
    // A mask cannot change text that the client has, so that it stops a stream as a denial does.
    if (result.decision !== 'Pass') return yield String(await streamEnd(words, { number, result }));
    const added = window.sent.slice(sent.length);
    sent = window.sent;
    yield String(await windowPassed(words, { number, of: windows.length, added, held: window.heldBytes }));
  }
  yield String(await streamEnd(words, undefined));
}
