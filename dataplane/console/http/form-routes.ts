import type { Hono } from 'hono';
import { formSections, newRule, readPolicyForm } from '../clients/policy-form.ts';
import { notice } from '../pages/notice.ts';
import { policyEditorPage } from '../pages/policy-editor.ts';
import { ruleFields } from '../pages/policy-form.ts';
import { answerPage } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { keptKey } from './kept-key.ts';
import { readEdited } from './read-edited.ts';
import { readForm } from './read-form.ts';

/** Notifies the form of the page that its rules have changed. */
const changed = { 'hx-trigger': 'rules-changed' } as const;

/** The form editor of policies: rules that are added and removed, and the change between form and YAML. */
export function addFormRoutes(app: Hono<ConsoleEnvironment>): void {
  app.get('/policies/form/rule', async (context) => {
    const section = formSections.find((one) => one === context.req.query('section')) ?? 'request';
    const kind = context.req.query('kind') === 'regex' ? 'regex' : 'stop_list';
    return context.html(await ruleFields(context.get('page').words, newRule(section, kind)), 200, changed);
  });
  app.get('/policies/form/removed', (context) => context.html('', 200, changed));
  app.post('/policies/convert', convert);
}

/** Shows the typed policy in the other editor and saves nothing. */
async function convert(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const { formPages: own } = page.words;
  const sent = await readForm(context);
  const { id = '', etag = '', status = 'draft' } = sent;
  const edited = await readEdited(context);
  const isForm = context.req.query('to') === 'form';
  const form = isForm ? (edited.form ?? readPolicyForm(edited.source)) : undefined;
  const refused = isForm && form === undefined;
  const problem = refused ? notice({ kind: 'error', title: own.noForm, text: own.noFormText }) : undefined;
  const shown = { id: id === '' ? undefined : id, source: edited.source, form, etag, status };
  // A save whose answer was lost stays the same command in the other editor.
  const editor = { ...shown, key: keptKey(sent), recipes: [], problem };
  return answerPage(context, policyEditorPage(page, editor), refused ? 422 : 200);
}
