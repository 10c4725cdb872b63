import { expect, test } from 'vitest';
import type { Overview } from '#contracts/overview';
import { en } from '../words/en.ts';
import { ru } from '../words/ru.ts';
import { overviewTables } from './overview.ts';
import { sourceCheck } from './policy-editor.ts';
import { saidText } from './said-text.ts';

const model: Overview['models'][number] = {
  name: 'chat',
  modelId: null,
  alias: 'chat',
  gateway: 'default',
  state: 'failed',
  wanted: { policy: 'guard', revision: 7 },
  policyId: null,
  serves: 'revision 6 of guard',
  servesRevision: '6',
  previous: null,
  replicas: [],
  summary:
    'ModelBinding chat was not applied: Runtime: Policy guard: request section, rule cards: invalid escape \\q: RE2 has no such escape: ' +
    'remove the backslash, or write \\\\ for a backslash. The previous application keeps serving.',
  isWell: false,
  whatToDo: 'Correct the named rule, save the policy guard, then: kubectl portcullis apply-revision chat',
  runbook: null,
  appliedBy: null,
};

test('the overview says in Russian what needs attention, what serves and what to do', async () => {
  const place = { place: { attention: 1, models: 1, charts: 1, find: '' }, isReadable: () => true };
  const shown = String(await overviewTables(ru, { mark: '', models: [model], deletingPolicies: [] }, place));
  expect(shown).toContain(
    'Привязка ModelBinding chat не применена: среда выполнения: политика guard: раздел запросов, правило cards: ' +
      'недопустимая последовательность \\q: в RE2 такой последовательности нет: уберите обратную косую черту или напишите \\\\, ' +
      'если это сам знак. Продолжает действовать предыдущее применение.',
  );
  expect(shown).toContain('версия 6 политики guard');
  expect(shown).toContain(
    'Исправьте названное правило, сохраните политику guard, затем: kubectl portcullis apply-revision chat',
  );
  expect(shown).not.toContain('lang="en"');
});

test('the editor says in Russian what is wrong with a definition', async () => {
  const problems = ['name is required; request.baseline[0].id must have at most 128 characters'];
  const warnings = [
    'response section, rule a: it is anchored to the beginning or end of the text, so streamed answers cannot be checked and are refused',
  ];
  const shown = String(await sourceCheck(ru, { problems, warnings }));
  expect(shown).toContain('name: обязательное поле; request.baseline[0].id: длина в знаках: не больше 128');
  expect(shown).toContain(
    'раздел ответов, правило a: шаблон привязан к началу или концу текста, поэтому потоковые ответы проверить нельзя и они отклоняются',
  );
});

test('an English page has the text of the API, and an unknown sentence is marked and escaped', async () => {
  expect(saidText(en, 'The <alias> has no route.')).toBe('The <alias> has no route.');
  expect(String(await saidText(ru, 'The <alias> is blue.'))).toBe('<span lang="en">The &lt;alias&gt; is blue.</span>');
});
