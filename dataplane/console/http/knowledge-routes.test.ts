import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addKnowledgeRoutes, mostFiles } from './knowledge-routes.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const page = { words: en, session: { subject: 'ann' } };
/** Names of the documents that were submitted. */
const submitted: string[] = [];
/** A retrieval service that refuses the document `large.md`. */
const api: TenantApi = {
  call: async (path, schema, call) => {
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

async function upload(files: readonly (readonly [name: string, bytes: string | Uint8Array<ArrayBuffer>])[]) {
  const body = new FormData();
  for (const [name, bytes] of files) body.append('file', new File([bytes], name));
  submitted.length = 0;
  const headers = { 'hx-request': 'true' };
  const answer = await app.request(`/knowledge/${id}/documents`, { method: 'POST', body, headers });
  return { status: answer.status, text: await answer.text() };
}
const files = (count: number) => Array.from({ length: count }, (_, at) => [`${at}.md`, `Text ${at}.`] as const);

test('an upload takes the largest number of files, each with a state that moves and is asked for again', async () => {
  const { status, text } = await upload(files(mostFiles));
  expect([status, submitted.length]).toEqual([200, mostFiles]);
  expect(text.match(/hx-get="\/knowledge\/jobs\/[0-9a-f-]{36}"/g)).toHaveLength(mostFiles);
  expect(text.match(/<progress aria-label="\d+\.md">/g)).toHaveLength(mostFiles);
});

test('one file more, and an upload without a file, are refused with the largest number', async () => {
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
