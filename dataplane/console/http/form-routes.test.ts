import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { newRule, type PolicyForm, readPolicyForm, ruleFieldNames } from '../clients/policy-form.ts';
import { readRecipes } from '../clients/policy-source.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addFormRoutes } from './form-routes.ts';

const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1' };
const app = new Hono<ConsoleEnvironment>();
app.use(async (context, next) => {
  context.set('page', page as unknown as PageContext);
  await next();
});
addFormRoutes(app);

const form = readPolicyForm(readRecipes().get('competitors') ?? '') as PolicyForm;

/** The body that a browser sends for a form. */
function sentOf({ rules, ...texts }: PolicyForm): FormData {
  const sent = new FormData();
  for (const [name, value] of Object.entries({ ...texts, as: 'form' })) sent.append(name, String(value));
  for (const rule of rules) for (const name of ruleFieldNames) sent.append(`rule.${name}`, rule[name]);
  return sent;
}

async function convert(to: 'form' | 'yaml', body: FormData) {
  const answer = await app.request(`/policies/convert?to=${to}`, { method: 'POST', body });
  return { status: answer.status, text: await answer.text() };
}

test('a form is shown as YAML and as a form again, and markup in it stays text', async () => {
  const added = { ...newRule('response', 'stop_list'), id: 'new', text: '<b>one</b>\r\ntwo' };
  const yaml = await convert('yaml', sentOf({ ...form, rules: [...form.rules, added] }));
  expect(yaml.status).toBe(200);
  expect(yaml.text).toMatch(/- &lt;b&gt;one&lt;\/b&gt;\n +- two/);
  const source = new FormData();
  source.append('source', readRecipes().get('secrets') ?? '');
  const again = await convert('form', source);
  expect([again.status, again.text.includes('<fieldset class="rule">')]).toEqual([200, true]);
  const same = await convert('form', sentOf(form));
  expect(same.text.match(/<fieldset class="rule">/g)).toHaveLength(form.rules.length);
});

test.each([
  ['form', true],
  ['yaml', true],
  ['form', false],
] as const)(
  'a policy that is shown as %s keeps the key of a save without an answer, if it is one: %s',
  async (to, isKey) => {
    const sent = sentOf(form);
    const key = isKey ? 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' : 'x"y';
    sent.append('key', key);
    const shown = /name="key" value="([^"]*)"/.exec((await convert(to, sent)).text)?.[1];
    expect(shown).toMatch(/^[0-9a-f-]{36}$/);
    expect(shown === key).toBe(isKey);
  },
);

test('a text that is no policy, and a form whose rules have different numbers of fields, are not shown as a form', async () => {
  const source = new FormData();
  source.append('source', 'name: [');
  const refused = await convert('form', source);
  expect([refused.status, refused.text.includes(en.formPages.noForm)]).toEqual([422, true]);
  const sent = sentOf(form);
  sent.append('rule.id', 'one more');
  expect((await convert('form', sent)).status).toBe(422);
});

test('a new rule has all of its fields, and a removed rule leaves no field; the page is notified of both', async () => {
  const added = await app.request('/policies/form/rule?section=shared&kind=regex');
  const text = await added.text();
  expect(added.headers.get('hx-trigger')).toBe('rules-changed');
  expect(ruleFieldNames.filter((name) => text.split(`name="rule.${name}"`).length !== 2)).toEqual([]);
  const removed = await app.request('/policies/form/removed');
  expect([await removed.text(), removed.headers.get('hx-trigger')]).toEqual(['', 'rules-changed']);
});
