import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { createTenantApi, personHeaders } from '../clients/tenant-api.ts';
import type { ConsoleMetrics } from '../monitoring/metrics.ts';
import { mostFileBytes } from '../pages/knowledge-upload.ts';
import type { Cookies } from '../sessions/cookies.ts';
import type { OpenIdClient } from '../sessions/open-id-client.ts';
import type { PersonSession } from '../sessions/session.ts';
import { type ConsoleConfig, servicesForPersons } from '../setup/console-config.ts';
import type { Words } from '../words/en.ts';
import { addActivityRoutes } from './activity-routes.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { answerNotice } from './answer-page.ts';
import { addApprovalRoutes } from './approval-routes.ts';
import { openAssets } from './assets.ts';
import { addAuditRoutes } from './audit-routes.ts';
import { addCheckRoutes } from './check-routes.ts';
import { addConversationRoutes } from './conversation-routes.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { addFormRoutes } from './form-routes.ts';
import { protectBrowser, readChoices, readRights, requireHost, requireOwnOrigin, requireSession } from './gates.ts';
import { addKnowledgeRoutes } from './knowledge-routes.ts';
import { addMemoryRoutes } from './memory-routes.ts';
import { addOperationRoutes } from './operation-routes.ts';
import { addOverviewRoutes } from './overview-routes.ts';
import { addPlaygroundStream } from './playground-stream.ts';
import { addPolicyRoutes } from './policy-routes.ts';
import { addRunRoutes } from './run-routes.ts';
import { addRunbookRoutes } from './runbook-routes.ts';
import { addSignInRoutes } from './sign-in-routes.ts';

type ConsoleApp = {
  readonly config: ConsoleConfig;
  readonly origin: string;
  readonly cookies: Cookies;
  readonly client: OpenIdClient;
  readonly logger: Logger;
  readonly metrics: ConsoleMetrics;
  /** A signal that is aborted when the process begins to shut down. */
  readonly stopping: AbortSignal;
};

/** Maximum number of bytes of a form: more than a policy that the management API takes. */
const formBytes = 4_194_304;
/** Maximum number of bytes of an upload: a file of the largest size and the other members of its form. */
const uploadBytes = mostFileBytes + 65_536;
/** Bytes of a body that are read only to be discarded. */
const mostDiscarded = 67_108_864;
const uploadPath = /^\/knowledge\/[^/]+\/documents$/;

/** The pages of the console. Gates in order: Host, choices and session, size, Origin and token of writes, session, rights. */
export function consoleApp(options: ConsoleApp): Hono<ConsoleEnvironment> {
  const { config, origin, cookies, logger, metrics } = options;
  const app = new Hono<ConsoleEnvironment>();
  const assets = openAssets();
  app.use(metrics.measure);
  app.use(protectBrowser, requireHost(origin));
  assets.addTo(app);
  app.use(readChoices({ cookies, config, assets: assets.version }));
  const forms = boundForm(formBytes, ({ errors }) => errors.tooLargeText);
  const uploads = boundForm(uploadBytes, ({ errors }) => errors.tooLargeFiles);
  app.use((context, next) => (uploadPath.test(context.req.path) ? uploads : forms)(context, next));
  app.use(requireOwnOrigin(origin));
  addSignInRoutes(app, options);
  app.use(requireSession, readRights);
  app.get('/', (context) => context.redirect(firstPage(context.get('session').rights, config), 303));
  addOverviewRoutes(app, options.stopping);
  addCheckRoutes(app);
  addPlaygroundStream(app, options.stopping);
  addPolicyRoutes(app);
  addFormRoutes(app);
  addActivityRoutes(app);
  addOperationRoutes(app);
  addApprovalRoutes(app);
  addAuditRoutes(app, options.stopping);
  addRunbookRoutes(app);
  addTenantPages(app, config);
  addAgentPages(app, config, options.stopping);
  app.notFound((context) => {
    const { notFound: title, notFoundText: text } = context.get('page').words.errors;
    return answerNotice(context, 404, { title, text });
  });
  app.onError((error, context) => {
    logger.error('page_failed', { failure: describeFailure(error) });
    // A failure of the first gates has no words for a page.
    if (context.get('page') === undefined) return context.text('The page could not be rendered.\n', 500);
    const { unexpected: title, unexpectedText: text } = context.get('page').words.errors;
    return answerNotice(context, 500, { title, text });
  });
  return app;
}

function boundForm(maxSize: number, textOf: (words: Words) => string): MiddlewareHandler<ConsoleEnvironment> {
  return bodyLimit({
    maxSize,
    onError: async (context: ConsoleContext) => {
      await discard(context.req.raw.body);
      const { words } = context.get('page');
      return answerNotice(context, 413, { title: words.errors.tooLarge, text: textOf(words) });
    },
  });
}

/**
 * Reads the rest of a body and discards it: a browser that is still sending would show a lost connection instead of the
 * answer.
 * @param body of a request that is refused for its size
 */
async function discard(body: ReadableStream<Uint8Array> | null): Promise<void> {
  // A body without a length is read by the limit itself, which ends the request.
  if (body === null || body.locked) return;
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > mostDiscarded) return;
  }
}

/** Pages of the services with tenants that this installation has. */
function addTenantPages(app: Hono<ConsoleEnvironment>, config: ConsoleConfig): void {
  const { persons, tenant } = config;
  const { retrieval, memory } = servicesForPersons(config);
  if (retrieval === undefined && config.services.retrieval !== undefined) addClosedPage(app, '/knowledge');
  if (memory === undefined && config.services.memory !== undefined) addClosedPage(app, '/memory');
  if (retrieval !== undefined) {
    const apiOf = (context: ConsoleContext, as?: string) => {
      const session = context.get('session');
      return createTenantApi(retrieval, config, as === undefined ? session : { ...session, subject: as });
    };
    addKnowledgeRoutes(app, { apiOf, tenant, persons });
  }
  if (memory !== undefined) addMemoryRoutes(app, (context) => createTenantApi(memory, config, context.get('session')));
}

/**
 * Adds a page that explains why the pages of a service do not work here. Without it, every page would show a refusal of
 * the service.
 */
function addClosedPage(app: Hono<ConsoleEnvironment>, path: string): void {
  app.all(`${path}/*`, (context) => {
    const { noActChain: title, noActChainText: text } = context.get('page').words.errors;
    return answerNotice(context, 403, { title, text });
  });
}

/** Pages about agents, if this installation has a catalogue of them. */
function addAgentPages(app: Hono<ConsoleEnvironment>, config: ConsoleConfig, stopping: AbortSignal): void {
  const { catalogue, gateway } = config.services;
  if (catalogue === undefined) return;
  const apiOf = (context: ConsoleContext) => createTenantApi(catalogue, config, context.get('session'));
  const gatewayOf =
    gateway === undefined
      ? undefined
      : (context: ConsoleContext) => createTenantApi(gateway, config, context.get('session'));
  addAgentRoutes(app, { apiOf, gatewayOf });
  if (gateway === undefined || gatewayOf === undefined) return;
  addRunRoutes(app, { apiOf: gatewayOf, catalogueOf: apiOf });
  const personOf = (context: ConsoleContext) => personHeaders(config, context.get('session'));
  addConversationRoutes(app, { apiOf, gateway, personOf, stopping });
}

/** The first page of the navigation of a person. */
function firstPage(rights: PersonSession['rights'], config: ConsoleConfig): string {
  const { retrieval, memory } = servicesForPersons(config);
  if (rights.view || rights.readsModels) return '/overview';
  if (rights.readsPolicies) return '/policies';
  if (rights.check) return '/playground';
  if (retrieval !== undefined) return '/knowledge';
  if (memory !== undefined) return '/memory';
  return config.services.catalogue === undefined ? '/overview' : '/agents';
}
