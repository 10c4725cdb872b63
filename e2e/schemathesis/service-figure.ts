import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestKey, signText, startJwksServer } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { missingPostgres } from '#sql/testing/test-server';
import type { Figure } from '../support/figure.ts';
import { prepareSchemathesis, runSchemathesis } from './run-schemathesis.ts';

type Run = Parameters<typeof runSchemathesis>[1];

/** A running service with data that its caller may read, and the ids of the data. */
type MeasuredService = AsyncDisposable &
  Pick<Run, 'known'> & {
    readonly url: string;
    readonly headers: { readonly 'x-tenant-id': string; readonly authorization: string };
  };

type ServiceFigure = Pick<Figure, 'name' | 'title'> &
  Pick<Run, 'configFile'> & {
    /** Paths of the served documents; `/openapi.json` when absent. */
    readonly documents?: readonly string[];
    readonly open: () => Promise<MeasuredService>;
  };

const examples = { full: 40, small: 2 } as const;

/** The figure of a service in production mode against the document that it serves. */
export function serviceFigure({ name, title, open, documents = ['/openapi.json'], ...options }: ServiceFigure): Figure {
  return {
    name,
    title,
    async run(size, say) {
      if (missingPostgres !== undefined) return { skipped: missingPostgres };
      const python = await prepareSchemathesis();
      if (!python.ok) return { skipped: python.reason };
      await using service = await open();
      const total = { code: 0, cases: 0, failures: 0 };
      for (const path of documents) {
        const report = await runSchemathesis(python.path, {
          ...options,
          document: `${service.url}${path}`,
          // The tool removes the token by this spelling of the name.
          headers: { 'X-Tenant-Id': service.headers['x-tenant-id'], Authorization: service.headers.authorization },
          known: service.known,
          examples: examples[size],
        });
        if (report.code !== 0) say(report.output);
        total.code = Math.max(total.code, report.code);
        total.cases += report.cases;
        total.failures += report.failures;
      }
      const line = `${total.cases} generated cases, ${total.failures} failures`;
      return { holds: total.code === 0 && total.cases > 0, line };
    },
  };
}

const issuer = 'https://issuer.example';
const audience = 'portcullis';
const tokenSeconds = 3_600;

/** A user of the tenant acme with a token of a trusted issuer, and the configuration of a service that trusts it. */
export async function openTokenUser(parts: AsyncDisposableStack) {
  const key = await createTestKey('ES256', 'figure');
  const keys = parts.use(await startJwksServer(key));
  const issuersFile = join(parts.use(temporaryFolder()).path, 'issuers.yaml');
  const trusted = { issuer, audience, jwksUrl: keys.url.href, groupsClaim: 'groups', tenantsClaim: 'tenants' };
  writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
  const subject = 'ann';
  const exp = Math.floor(Date.now() / 1_000) + tokenSeconds;
  const rights = { groups: ['staff'], tenants: ['acme'], act: { sub: 'helper' } };
  const token = await signText(key, JSON.stringify({ iss: issuer, sub: subject, aud: audience, exp, ...rights }));
  return {
    config: { identity: { mode: 'production', issuersFile } },
    user: { issuer, subject },
    headers: { 'x-tenant-id': 'acme', authorization: `Bearer ${token}` },
  } as const;
}
