import { until } from '#kit/testing/until';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import { userSubject } from '#relations/subject';
import { startTestServer } from '#sql/testing/test-server';
import { documentOf, startRetrieval } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { openTokenUser, serviceFigure } from '../schemathesis/service-figure.ts';

export const figure = serviceFigure({
  name: 'retrieval-schemathesis',
  title: 'the retrieval service in production mode against its served document, by schemathesis with all checks',
  configFile: 'retrieval.toml',
  open: openRetrievalService,
});

/** Opens the service with a real database, one collection and one document, and a caller who administers groups. */
async function openRetrievalService() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer());
  const opened = parts.use(await server.createDatabase());
  const { config, user, headers } = await openTokenUser(parts);
  const service = parts.use(await startRetrieval(opened, { config }));
  const relations = await openPostgresRelations(opened.database);
  await relations.grant([{ subject: userSubject(user), relation: 'administer', object: controlPlane }]);
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
    headers,
    known: { 'path.collection_id': String(created.json['collection_id']), 'path.job_id': String(job?.job_id) },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
