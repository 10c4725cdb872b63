import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { TenantApi } from '../clients/tenant-api.ts';
import { mostFileBytes, mostFiles } from '../pages/knowledge-upload.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addKnowledgeRoutes } from './knowledge-routes.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const page = { words: en, session: { subject: 'ann' } };
/** Names of the documents that were submitted. */
const submitted: string[] = [];
/** A retrieval service that refuses the document `large.md`, and has the document `present.md`. */
const api: TenantApi = {
  call: async (path, schema, call) => {
    if (path.includes('/documents/') && !path.endsWith('present.md')) {
      return { kind: 'refused', status: 404, code: 'not_found', message: '' };
    }
    if (path !== '/v1/documents:submit') {
      return { kind: 'value', etag: undefined, value: { name: 'handbook' } as ReturnType<typeof schema.parse> };
    }
    const { documents = [] } = (call?.body ?? {}) as { readonly documents?: readonly { readonly doc_id: string }[] };
    const names = documents.map(({ doc_id: name }) => name);
    if (names.includes('large.md')) {
      return { kind: 'refused', status: 413, code: 'payload_too_large', message: 'It is too large.' };
    }
    submitted.push(...names);
    const jobs = names.map((name) => ({ doc_id: name, job_id: crypto.randomUUID(), status: 'PENDING' }));
    return { kind: 'value', etag: undefined, value: { jobs } as ReturnType<typeof schema.parse> };
  },
};
const app = new Hono<ConsoleEnvironment>();
app.use(async (context, next) => {
  context.set('page', page as unknown as PageContext);
  context.set('session', page.session as ConsoleEnvironment['Variables']['session']);
  await next();
});
addKnowledgeRoutes(app, { apiOf: () => api, tenant: 'default', persons: [] });

async function upload(files: readonly (readonly [name: string, bytes: string | Uint8Array<ArrayBuffer>])[], note = '') {
  const body = new FormData();
  body.append('note', note);
  for (const [name, bytes] of files) body.append('file', new File([bytes], name));
  submitted.length = 0;
  const headers = { 'hx-request': 'true' };
  const answer = await app.request(`/knowledge/${id}/documents`, { method: 'POST', body, headers });
  return { status: answer.status, text: await answer.text() };
}
const files = (count: number) => Array.from({ length: count }, (_, at) => [`${at}.md`, `Text ${at}.`] as const);

test('an upload accepts the largest number of files, each with a state that is polled until it ends', async () => {
  const { status, text } = await upload(files(mostFiles));
  expect([status, submitted.length]).toEqual([200, mostFiles]);
  expect(text.match(/hx-get="\/knowledge\/jobs\/[0-9a-f-]{36}"/g)).toHaveLength(mostFiles);
  expect(text.match(/<progress aria-label="\d+\.md">/g)).toHaveLength(mostFiles);
});

test('an upload with one file too many, or without a file, is refused with the largest number', async () => {
  for (const given of [files(mostFiles + 1), [['', ''] as const], []]) {
    const { text } = await upload(given);
    expect(submitted).toEqual([]);
    expect(text).toContain(en.know.uploadCountText(mostFiles));
  }
});

test('a refused file has its name and the reason, and the other files are submitted', async () => {
  const { text } = await upload([
    ['one.md', 'One.'],
    ['binary.pdf', new Uint8Array([0x25, 0xff, 0xfe])],
    ['large.md', 'Large.'],
    ['two.md', 'Two.'],
  ]);
  expect(submitted).toEqual(['one.md', 'two.md']);
  expect(text).toMatch(/The file is not UTF-8 text.*<code>binary\.pdf<\/code>/s);
  expect(text).toMatch(/<code>large\.md<\/code>.*It is too large\..*<code>payload_too_large<\/code>/s);
});

test('a second file with the name of another file is not added, with a message', async () => {
  const { text } = await upload([
    ['one.md', 'From one folder.'],
    ['two.md', 'Two.'],
    ['one.md', 'From another folder.'],
  ]);
  expect(submitted).toEqual(['one.md', 'two.md']);
  expect(text.split(en.know.uploadSame)).toHaveLength(2);
  expect(text).toMatch(new RegExp(`${en.know.uploadSame}.*<code>one\\.md</code>`, 's'));
});

test('a file with the name of a document says that it replaces it, even if that document was sent a moment ago', async () => {
  const replaces = `${en.know.uploadReplaces} <code>`;
  expect((await upload([['new.md', 'New.']])).text).not.toContain(replaces);
  expect((await upload([['present.md', 'New.']])).text).toContain(`${replaces}present.md`);
  expect((await upload([['new.md', 'Newer.']], 'again')).text).toContain(`${replaces}new.md`);
});

test('a file of the largest size is submitted, and a file with one byte more is not submitted', async () => {
  const most = 'a'.repeat(mostFileBytes);
  expect([(await upload([['most.md', most]])).text.includes(en.know.uploadLarge), submitted]).toEqual([
    false,
    ['most.md'],
  ]);
  expect([(await upload([['more.md', `${most}a`]])).text.includes(en.know.uploadLarge), submitted]).toEqual([true, []]);
});

test.each([
  ['same_name', en.know.uploadSame],
  ['too_large', en.know.uploadLarge],
  ['unread', en.know.uploadUnread],
  ['too_many', en.know.uploadCount],
])('a file that the script sends by its name because it is %s is not added: %s', async (note, title) => {
  const { text } = await upload([['one.md', '']], note);
  expect([submitted, text.includes(title)]).toEqual([[], true]);
});
