import type { Context } from 'hono';
import type { ManagementApi } from '../clients/management-api.ts';
import type { PageContext } from '../pages/page.ts';
import type { PersonSession } from '../sessions/session.ts';

/** The results of the gates of a request, for its page. */
export type ConsoleEnvironment = {
  Variables: {
    page: PageContext;
    session: PersonSession;
    management: ManagementApi;
  };
};

export type ConsoleContext = Context<ConsoleEnvironment>;
