import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestKey, signText, startJwksServer } from '#identity/testing/test-issuer';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import { userSubject } from '#relations/subject';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { documentOf, startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { prepareSchemathesis, runSchemathesis } from '../schemathesis/run-schemathesis.ts';
import type { Figure } from '../support/figure.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const examples = { full: 40, small: 2 } as const;
const issuer = 'https://issuer.example';
const audience = 'portcullis';
const tokenSeconds = 3_600;

export const figure: Figure = {
  name: 'retrieval-schemathesis',
  title: 'the retrieval service in production mode against its served document, by schemathesis with all checks',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const python = await prepareSchemathesis();
    if (!python.ok) return { skipped: python.reason };
    await using world = await openWorld();
    const report = await runSchemathesis(python.path, {
      document: `${world.url}/openapi.json`,
      headers: world.headers,
      configFile: 'retrieval.toml',
      known: world.known,
      examples: examples[size],
    });
    if (report.code !== 0) say(report.output);
    const line = `${report.cases} generated cases, ${report.failures} failures`;
    return { holds: report.code === 0 && report.cases > 0, line };
  },
};

/** The service over a real database with one collection and one document, and a caller who administers groups. */
async function openWorld() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer());
  const opened = parts.use(await server.createDatabase());
  const key = await createTestKey('ES256', 'figure');
  const keys = parts.use(await startJwksServer(key));
  const issuersFile = join(parts.use(temporaryFolder()).path, 'issuers.yaml');
  const trusted = { issuer, audience, jwksUrl: keys.url.href, groupsClaim: 'groups', tenantsClaim: 'tenants' };
  writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
  const service = parts.use(
    await startRetrieval(opened, { config: { identity: { mode: 'production', issuersFile } } }),
  );
  const relations = await openPostgresRelations(opened.database);
  const subject = userSubject({ issuer, subject: 'ann' });
  await relations.grant([{ subject, relation: 'administer', object: controlPlane }]);
  const exp = Math.floor(Date.now() / 1_000) + tokenSeconds;
  const rights = { groups: ['staff'], tenants: ['acme'], act: { sub: 'helper' } };
  const token = await signText(key, JSON.stringify({ iss: issuer, sub: 'ann', aud: audience, exp, ...rights }));
  const headers = { 'x-tenant-id': 'acme', authorization: `Bearer ${token}` };
  const profile = { embedding_profile_id: 'test-profile' };
  const created = await service.call({}, '/v1/collections', { name: 'handbook', ...profile }, headers);
  const documents = [documentOf('handbook', 'leave', 'Parents have leave.')];
  const submitted = await service.call({}, '/v1/documents:submit', { documents }, headers);
  const [job] = submitted.json['jobs'] as readonly { readonly job_id: string }[];
  await until('the document is live', async () => {
    const { json } = await service.call({}, `/v1/jobs/${job?.job_id}`, undefined, headers);
    return json['status'] === 'DONE' || undefined;
  });
  const owned = parts.move();
  return {
    url: service.url,
    // The tool takes the token away by this spelling of the name.
    headers: { 'X-Tenant-Id': 'acme', Authorization: headers.authorization },
    known: { 'path.collection_id': String(created.json['collection_id']), 'path.job_id': String(job?.job_id) },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
