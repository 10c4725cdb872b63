import { expect, test } from 'vitest';
import { agentErrors } from '#contracts/agent-errors';
import { agentGatewayErrors } from '#contracts/agent-gateway-errors';
import { managementErrors, operationFailures } from '#contracts/management-errors';
import { memoryErrors } from '#contracts/memory-errors';
import { retrievalErrors } from '#contracts/retrieval-errors';
import { en } from '../words/en.ts';
import { refusalsRu } from '../words/refusals-ru.ts';
import { ru } from '../words/ru.ts';
import { turnPart } from './agent-conversation.ts';
import { failureNotice, refusalNotice } from './notice.ts';

const refused = (status: number, code: string, message: string) =>
  ({ kind: 'refused', status, code, message }) as const;
const english = /<p class="quiet small">(.*?)<\/p>/;

test.each([
  ['a conflict', 412, 'etag_mismatch'],
  ['a limit of requests', 429, 'rate_limited'],
  ['a quota', 409, 'policy_quota_reached'],
  ['a freeze window', 409, 'change_frozen'],
  ['an approval that is missing', 409, 'approval_required'],
  ['an absent policy', 404, 'policy_not_found'],
  ['a database that does not answer', 503, 'records_unavailable'],
] as const)('a Russian page states the refusal for %s in Russian, with its code', async (_title, status, code) => {
  const { meaning } = managementErrors[code];
  const shown = String(await refusalNotice(ru, refused(status, code, meaning)));
  expect(shown).toContain(refusalsRu[code]);
  expect(shown).toContain(`<code>${code}</code>`);
  expect(shown).not.toContain(meaning);
});

test('the places of a refusal are listed below the Russian sentence: translated, or marked as English', async () => {
  const message = `${managementErrors.invalid_body.meaning} · name: must have at most 128 characters · /x: too long <b>`;
  const shown = String(await refusalNotice(ru, refused(422, 'invalid_body', message)));
  expect(shown).toContain(`<p>${refusalsRu.invalid_body}</p>`);
  const places = 'name: длина в знаках: не больше 128 · <span lang="en">/x: too long &lt;b&gt;</span>';
  expect(english.exec(shown)?.[1]).toBe(places);
});

test('a refusal for a missing right names the right on a Russian page', async () => {
  const { meaning } = managementErrors.permission_denied;
  const shown = String(await refusalNotice(ru, refused(403, 'permission_denied', meaning)));
  expect(shown).toContain(`${refusalsRu.permission_denied} ${ru.errors.forbiddenText}`);
  expect(english.exec(shown)?.[1]).toBe(`<span lang="en">${meaning}</span>`);
});

test.each(['of_tomorrow', 'constructor'])('an unknown code has the sentence of the API: %s', async (code) => {
  const shown = String(await refusalNotice(ru, refused(409, code, 'It is <so>.')));
  expect(shown).toContain('<p><span lang="en">It is &lt;so&gt;.</span></p>');
});

test('an English page has the sentence of the API', async () => {
  const { meaning } = managementErrors.etag_mismatch;
  const shown = String(await refusalNotice(en, refused(412, 'etag_mismatch', meaning)));
  expect(shown).toContain(`<p>${meaning}</p>`);
  expect(shown).not.toContain('lang="en"');
});

test('a failed command has the Russian sentence for its code', async () => {
  const code = 'provider_unavailable';
  const failure = { title: ru.policyPages.failedCommand, code, message: operationFailures[code] };
  const shown = String(await failureNotice(ru, failure));
  expect(shown).toContain(refusalsRu[code]);
  expect(shown).not.toContain(operationFailures[code]);
});

test.each([
  ['en', en, `${operationFailures.bundle_invalid} Cause: request section, rule &lt;b&gt;: invalid syntax.`],
  ['ru', ru, `${refusalsRu.bundle_invalid} Причина: раздел запросов, правило &lt;b&gt;: неверный синтаксис.`],
] as const)('a failed command has its cause: %s', async (_language, words, text) => {
  const [code, cause] = ['bundle_invalid', 'request section, rule <b>: invalid syntax.'] as const;
  const failure = { title: '', code, message: operationFailures[code], cause };
  expect(String(await failureNotice(words, failure))).toContain(`<p>${text}</p>`);
});

test('a failed turn of a conversation has the remedy in Russian and no sentence in English', async () => {
  const message = 'A policy denied a text.';
  const event = { kind: 'failed', code: 'guardrail_denied', message } as const;
  const shown = String(await turnPart(ru, { id: '1', taskId: undefined, artifacts: [] }, event));
  expect(shown).toContain(ru.agentPages.remedies.guardrail_denied);
  expect(shown).not.toContain(message);
  expect(String(await turnPart(en, { id: '1', taskId: undefined, artifacts: [] }, event))).toContain(
    `${message} ${en.agentPages.remedies.guardrail_denied}`,
  );
});

test.each([
  [409, 'of_tomorrow'],
  [403, 'forbidden_tomorrow'],
])('only the sentence of the API is marked as English on a Russian page: %i', async (status, code) => {
  const answer = refused(status, code, 'It is so.');
  const shown = [
    await refusalNotice(ru, answer),
    await turnPart(
      ru,
      { id: '1', taskId: undefined, artifacts: [] },
      { kind: 'failed', code, message: answer.message },
    ),
  ].join('');
  expect(shown.match(/lang="en">[^<]*</g)).toEqual(['lang="en">It is so.<', 'lang="en">It is so.<']);
  expect(String(await refusalNotice(en, answer))).not.toContain('lang="en"');
});

test.each([
  ['a quota of retrieval', 'rate_limited', retrievalErrors.rate_limited.meaning, 'квота'],
  ['a quota of memory', 'rate_limited', memoryErrors.rate_limited.meaning, 'квота'],
  ['a limit of requests', 'rate_limited', managementErrors.rate_limited.meaning, 'предел запросов'],
  ['a limit of requests to agents', 'rate_limited', agentGatewayErrors.rate_limited.meaning, 'предел запросов'],
  ['the runs of the caller', 'too_many_runs', agentGatewayErrors.too_many_runs.meaning, 'вам'],
  ['the runs of all callers', 'too_many_runs', agentErrors.too_many_runs.meaning, 'всем вместе'],
])('the Russian sentence for a limit says each cause of its code: %s', async (_title, code, meaning, cause) => {
  const shown = String(await failureNotice(ru, { title: '', code, message: meaning }));
  expect(shown).toContain(cause);
  expect(shown).not.toContain(meaning);
});

test('a message that is the sentence of another code is a detail', async () => {
  const { meaning } = managementErrors.etag_mismatch;
  expect(english.exec(String(await refusalNotice(ru, refused(409, 'conflict', meaning))))?.[1]).toBe(
    `<span lang="en">${meaning}</span>`,
  );
});

test.each([
  'output_invalid',
  'file_refused',
  'file_provider_mapping_failed',
  'advertised_capability_unavailable',
  'task_not_found',
] as const)('an agent that ends with %s has a Russian sentence in the conversation', async (code) => {
  const { meaning: message } = agentErrors[code];
  const shown = String(
    await turnPart(ru, { id: '1', taskId: undefined, artifacts: [] }, { kind: 'failed', code, message }),
  );
  expect(shown).not.toContain(message);
  expect(shown).toContain(`<p>${refusalsRu[code]} ${ru.agentPages.remedy}</p>`);
});

test('every error code has a Russian sentence', () => {
  for (const [code, text] of Object.entries(refusalsRu)) {
    expect([code, /\p{Script=Cyrillic}/u.test(text)]).toEqual([code, true]);
  }
});
