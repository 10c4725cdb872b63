import { agentSubject, userSubject } from '#relations/subject';
import { startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { openTokenUser, serviceFigure } from '../schemathesis/service-figure.ts';

export const figure = serviceFigure({
  name: 'catalogue-schemathesis',
  title:
    'the agent catalogue in production mode against the documents of both versions of its API, by schemathesis with all checks',
  configFile: 'catalogue.toml',
  documents: ['/api/v1/openapi.json', '/api/v2/openapi.json'],
  open: openCatalogueService,
});

/** Opens the service with a real database and one agent that the caller may view and invoke. */
async function openCatalogueService() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer());
  const { config, headers, user } = await openTokenUser(parts);
  const world = parts.use(await startCatalogue(await server.createDatabase(), { config }));
  const { agentId } = await world.publish('known');
  const subjects = [userSubject(user), agentSubject({ issuer: user.issuer, subject: 'helper' })];
  await world.relations.grant(
    subjects.flatMap((subject) =>
      ['view', 'invoke'].map((relation) => ({ subject, relation, object: `agent:${agentId}` })),
    ),
  );
  const owned = parts.move();
  return {
    url: world.url,
    headers,
    known: { 'path.agentId': agentId },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
