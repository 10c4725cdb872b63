import { describe, expect, test } from 'vitest';
import { newRule, readPolicyForm, writePolicyForm } from './policy-form.ts';
import { readPolicySource, readRecipes, writePolicySource } from './policy-source.ts';

const regex = (id: string, more: object = {}) => ({
  id,
  kind: 'regex',
  timeoutMs: 100,
  action: { type: 'mask', replacement: '#', keepLast: 4 },
  regex: { engine: 're2-1.1.20251105', pattern: '\\d{4}', caseSensitive: true, checksum: 'luhn', ...more },
});
const terms = {
  id: 'words',
  kind: 'stop_list',
  timeoutMs: 20,
  action: { type: 'deny' },
  stopList: { terms: [' a b', 'c'], match: 'token', caseSensitive: false, stem: 'snowball' },
};
const asked = {
  id: 'asked',
  kind: 'external_pipeline',
  timeoutMs: 200,
  action: { type: 'deny' },
  externalPipeline: { provider: 'pii', contract: 'platform.guardrail-runtime.detector/v1' },
};
const definition = {
  shared: [regex('shared')],
  request: { deadlineMs: 250, baseline: [terms, asked], additional: [{ ...regex('seen'), mode: 'observe' }] },
  response: { deadlineMs: 300, baseline: [regex('last')], additional: [] },
  providers: [{ name: 'pii', credentialRef: { name: 'pii-key' } }],
};
const source = writePolicySource({ name: 'p', description: 'd', definition });

describe('the form of a policy', () => {
  test.each([['an example with every kind of member', source], ...readRecipes()])(
    'the form of %s yields the same policy again',
    (_, text) => {
      const form = readPolicyForm(text);
      const read = readPolicySource(text);
      expect(read.ok).toBe(true);
      expect(form && readPolicySource(writePolicyForm(form))).toEqual(read);
    },
  );

  test('the form of a policy shows terms as lines, and keeps members that it does not show', () => {
    const [shared, words, provider, seen] = readPolicyForm(source)?.rules ?? [];
    expect([shared?.section, shared?.rest]).toEqual(['shared', '{"action":{"keepLast":4},"own":{"checksum":"luhn"}}']);
    expect([words?.text, words?.mode, words?.caseSensitive]).toEqual([' a b\nc', 'always', 'false']);
    expect([provider?.kind, provider?.text]).toEqual(['external_pipeline', '']);
    expect([seen?.mode, seen?.replacement]).toEqual(['observe', '#']);
  });

  test('a form with invalid input becomes a source whose check names the problem', () => {
    const form = readPolicyForm(source);
    if (form === undefined) throw new Error('the source has a form');
    const added = { ...newRule('response', 'stop_list'), id: 'new', text: 'one\n\ntwo', timeoutMs: '20' };
    const read = readPolicySource(writePolicyForm({ ...form, rules: [...form.rules, added] }));
    expect(read).toMatchObject({
      ok: true,
      value: { definition: { response: { baseline: [{}, { id: 'new', stopList: { terms: ['one', 'two'] } }] } } },
    });
    const wrong = readPolicySource(writePolicyForm({ ...form, requestDeadlineMs: 'soon' }));
    expect(wrong).toMatchObject({ ok: false, problems: [expect.stringContaining('deadlineMs')] });
    const forged = form.rules.map((rule) => ({ ...rule, rest: '{"action":{"type":"deny"},"own":{"__proto__":1}}' }));
    expect(readPolicySource(writePolicyForm({ ...form, rules: forged })).ok).toBe(false);
  });

  test('no form is offered for a text that is not a policy, or whose terms contain line breaks', () => {
    const broken = { ...terms, stopList: { ...terms.stopList, terms: ['a\nb'] } };
    const request = { ...definition.request, baseline: [broken] };
    expect(
      readPolicyForm(writePolicySource({ name: 'p', description: '', definition: { ...definition, request } })),
    ).toBeUndefined();
    expect(readPolicyForm('name: [')).toBeUndefined();
  });

  test.each(['a\rb', 'a\r\nb'])('no form is offered for a text that a text area would modify: %j', (text) => {
    const request = { ...definition.request, baseline: [{ ...terms, action: { type: 'mask', replacement: text } }] };
    const masked = { ...definition, request };
    expect(readPolicyForm(writePolicySource({ name: 'p', description: text, definition }))).toBeUndefined();
    expect(readPolicyForm(writePolicySource({ name: 'p', description: '', definition: masked }))).toBeUndefined();
    const lines = writePolicySource({ name: 'p', description: 'a\nb', definition });
    expect(readPolicyForm(lines)?.description).toBe('a\nb');
  });
});
