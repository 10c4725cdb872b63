import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createCookies } from '../../dataplane/console/sessions/cookies.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { type CatalogueProcesses, catalogueTenant } from './catalogue-processes.ts';

type SearchingConsole = AsyncDisposable & {
  readonly running: RunningProcess;
  /** Searches for a task as a browser of ann does, several times. @returns the number of pages that show an agent */
  search(task: string, times: number): Promise<number>;
};

/** A port that no service of this machine listens on. */
const nowhere = 'http://127.0.0.1:9';
const csrf = 'c'.repeat(32);

/** The console over the catalogue, with a session of ann. */
export async function startSearchingConsole(
  { running: { api } }: CatalogueProcesses,
  environment: Readonly<Record<string, string>>,
): Promise<SearchingConsole> {
  await using parts = new AsyncDisposableStack();
  const key = randomBytes(32);
  const keyFile = join(parts.use(temporaryFolder()).path, 'cookie.key');
  writeFileSync(keyFile, key.toString('base64url'));
  const running = parts.use(
    await startProcess({
      file: 'dataplane/console/main.ts',
      environment: {
        ...environment,
        PORTCULLIS_LISTEN: '127.0.0.1:0',
        PORTCULLIS_ADMIN_LISTEN: '127.0.0.1:0',
        PORTCULLIS_COOKIE_KEY_FILE: keyFile,
        PORTCULLIS_OIDC_ISSUER_URL: nowhere,
        PORTCULLIS_MANAGEMENT_URL: nowhere,
        PORTCULLIS_CATALOGUE_URL: api.url,
        PORTCULLIS_TENANT: catalogueTenant,
        PORTCULLIS_IDENTITY: 'development',
      },
    }),
  );
  const origin = running.url;
  const rights = {
    ...{ view: false, author: false, check: false, apply: false, administer: false },
    ...{ readsPolicies: false, readsModels: false },
  };
  const session = { subject: 'ann', token: 'none', csrf, rights, expiresAt: Math.floor(Date.now() / 1_000) + 3_600 };
  const cookie = (await createCookies(key, origin).keep(session)).map((one) => one.split(';')[0]).join('; ');
  const owned = parts.move();
  return {
    running,
    async search(task, times) {
      let found = 0;
      for (let at = 0; at < times; at += 1) {
        const body = new URLSearchParams({ csrf, task, workspace: at % 2 === 0 ? 'support' : '' });
        const answer = await fetch(`${origin}/agents/search`, { method: 'POST', headers: { cookie, origin }, body });
        if ((await answer.text()).includes('href="/agents/')) found += 1;
      }
      return found;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
