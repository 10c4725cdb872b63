import { failure, success } from '#api/operation';
import { readLimit } from '#api/pages';
import { watchClient } from '#api/watch-client';
import { type AgentLifecycle, catalogueLimits } from '#contracts/catalogue';
import { nextReach } from '../access/agent-reach.ts';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { CursorBinding } from '../paging/page-cursors.ts';
import { readPage } from '../paging/read-page.ts';
import { describeRecord } from '../records/describe-record.ts';
import type { AgentFilters } from '../records/read-agents.ts';
import type { ApiVersion, CatalogueRequest, CatalogueResponse } from './catalogue.ts';
import { filterParameters } from './list-parameters.ts';

/** A page of the agents that the caller may view (`catalogue:list:*`). */
export function listAgents(version: ApiVersion) {
  return async ({ service, caller, query, incoming }: CatalogueRequest): Promise<CatalogueResponse> => {
    const { database, relations, cursors } = service;
    const binding = bindingOf(version, caller, query);
    const { cursor } = query;
    const after = cursor === undefined ? undefined : cursors.read(cursor, binding);
    if (cursor !== undefined && after === undefined) return failure('cursor_invalid');
    const filters = filtersOf(query);
    using client = watchClient(incoming);
    const { signal } = client;
    if (filters.state === 'degraded') {
      // Degraded agents are hidden from everyone (`catalogue:state:degraded-hidden`). A caller whose rights are not
      // known is refused nevertheless.
      await nextReach({ relations, caller, right: 'view' }, { from: '', limit: 1 }, signal);
      return success({ items: [], nextCursor: null });
    }
    const limit = readLimit(query['limit'], catalogueLimits.pageSize) ?? catalogueLimits.pageSize.default;
    const parts = { sql: database.sql, relations, signal };
    const { agents, hasMore } = await readPage(parts, { caller, filters, after, limit });
    const last = agents.at(-1);
    return success({
      items: agents.map(({ agent, isInvocable }) => describeRecord(agent, isInvocable)),
      nextCursor: hasMore && last !== undefined ? cursors.write(last.agent.agent_id, binding) : null,
    });
  };
}

type Query = CatalogueRequest['query'];

function filtersOf(query: Query): AgentFilters {
  const { state = 'active', workspaceId, protocol, implementationType, ownerIssuer, ownerSubject } = query;
  return {
    // `read` of the parameter accepts no other value.
    state: state as AgentLifecycle,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(implementationType === undefined ? {} : { implementationType }),
    ...(ownerIssuer === undefined ? {} : { ownerIssuer }),
    ...(ownerSubject === undefined ? {} : { ownerSubject }),
  };
}

function bindingOf(version: ApiVersion, { subject, actors, tenant }: CatalogueCaller, query: Query): CursorBinding {
  const people = [subject, ...actors].map((one) => [one.issuer, one.subject]);
  return [version, people, tenant ?? null, filterParameters.map(({ name }) => query[name] ?? null)];
}
