import { html } from 'hono/html';
import { notice } from '../pages/notice.ts';
import { policyEditorPage } from '../pages/policy-editor.ts';
import { sentAgain, typedTexts } from '../pages/typed-text.ts';
import { answerNotice, answerPage, isOfScript } from './answer-page.ts';
import type { ConsoleContext } from './environment.ts';
import { keptKey } from './kept-key.ts';
import { readEdited } from './read-edited.ts';
import { readForm, readRepeated } from './read-form.ts';

const idForm = '[0-9a-fA-F-]{36}';
/** Paths that the form of the policy editor is sent to. */
const editorPath = new RegExp(`^/policies(?:/${idForm}|/convert)?$`);
/** Members of the other forms that contain a text that the person typed. */
const typedMembers = ['text', 'task'] as const;

/**
 * The answer to a write, or to a request of the script, without a session. A page that was replaced by the answer to
 * its form is no longer in the browser, so the answer contains the typed text. The editor of a policy is opened with it
 * again after the sign-in.
 */
export async function answerEnded(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const { sessions: own, errors } = words;
  const title = errors.ended;
  const link = { href: '/sign-in', label: words.signIn };
  const apart = { ...link, isApart: true };
  if (isOfScript(context)) return answerNotice(context, 401, { title, text: errors.endedText, link: apart });
  if (editorPath.test(context.req.path)) {
    const { pathname, search } = new URL(context.req.url);
    const { source } = await readEdited(context);
    const again = sentAgain(words, { action: `${pathname}${search}`, members: await membersOf(context) });
    const main = html`${notice({ kind: 'error', title, text: own.endedEditor, link: apart })}${again}${typedTexts(words, [source])}`;
    return answerPage(context, { title, main }, 401);
  }
  const texts = await typedOf(context);
  if (texts.length === 0) return answerNotice(context, 401, { title, text: own.endedPage, link });
  const main = html`${notice({ kind: 'error', title, text: own.endedTyped, link: apart })}${typedTexts(words, texts)}`;
  return answerPage(context, { title, main }, 401);
}

/**
 * Answers a write from a page of this console that was made for another session, for example for that of an earlier
 * sign-in.
 */
export async function answerOtherSession(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const { words } = page;
  const { sessions: own } = words;
  const title = own.other;
  if (!isOfScript(context) && editorPath.test(context.req.path)) {
    const sent = await readForm(context);
    const { id = '', etag = '', status = 'draft' } = sent;
    const policy = new RegExp(`^${idForm}$`).test(id) ? id : undefined;
    const problem = notice({ kind: 'error', title, text: own.otherEditor });
    const shown = { id: policy, ...(await readEdited(context)), etag, status, key: keptKey(sent) };
    const editor = { ...shown, recipes: [], problem };
    return answerPage(context, policyEditorPage(page, editor), 403);
  }
  const texts = isOfScript(context) ? [] : await typedOf(context);
  if (texts.length === 0) return answerNotice(context, 403, { title, text: own.otherPage });
  const main = html`${notice({ kind: 'error', title, text: own.otherTyped })}${typedTexts(words, texts)}`;
  return answerPage(context, { title, main }, 403);
}

/** The texts that the person has typed. */
async function typedOf(context: ConsoleContext): Promise<readonly string[]> {
  const texts = await Promise.all(typedMembers.map((name) => readRepeated(context, name)));
  return texts.flat().filter((text) => text.trim() !== '');
}

/** The text members of the form in their order, without the token of the session that has ended. */
async function membersOf(context: ConsoleContext): Promise<readonly (readonly [string, string])[]> {
  const sent: Readonly<Record<string, unknown>> = await context.req.parseBody({ all: true });
  return Object.entries(sent).flatMap(([name, values]) =>
    name === 'csrf' ? [] : [values].flat().flatMap((one) => (typeof one === 'string' ? [[name, one] as const] : [])),
  );
}
