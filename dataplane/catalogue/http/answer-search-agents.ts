import { failure, success } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { watchClient } from '#api/watch-client';
import { catalogueLimits, searchAgentsSchema } from '#contracts/catalogue';
import { describeRecord } from '../records/describe-record.ts';
import { searchAgents } from '../search/search-agents.ts';
import type { CatalogueRequest, CatalogueResponse } from './catalogue.ts';

/** The agents that belong to a query and that the caller may invoke (`catalogue:search:*`). The query is not stored. */
export async function answerSearchAgents({
  service,
  caller,
  body,
  incoming,
  traceparent,
}: CatalogueRequest): Promise<CatalogueResponse> {
  const read = readBodyAs(searchAgentsSchema, body, 'invalid_request');
  if (read.kind === 'error') return read;
  const { topK = catalogueLimits.topK.default, minScore = 0, profile = 'hybrid', ...asked } = read.value;
  if (asked.query.trim() === '') return failure('invalid_request', [{ path: 'query', message: 'must have a word' }]);
  using client = watchClient(incoming);
  const call = { signal: client.signal, traceparent };
  const { query, workspaceId, protocols, implementationTypes } = asked;
  const found = await searchAgents(service, {
    caller,
    query,
    workspaceId,
    profile,
    protocols,
    implementationTypes,
    topK,
    minScore,
    call,
  });
  const matches = found.map(({ agent, score }) => ({ ...describeRecord(agent, true), score }));
  return success({ matches });
}
