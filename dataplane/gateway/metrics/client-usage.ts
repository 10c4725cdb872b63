import type { Metrics } from '#kit/metrics/metrics';
import type { TokenUsage } from '../chat/read-usage.ts';
import { type OutcomeName, outcomeNames } from './outcomes.ts';

/** Maximum number of clients that have their own metric series; all further clients share one series. */
const maxClients = 200;
const dayMs = 86_400_000;

/** A client as it appears in metrics: by its name, never by its key. */
type CountedClient = { readonly name: string | undefined; readonly dailyTokens: number | undefined };

/** The requests and tokens of each client. A client without a name counts as `unnamed`. */
export type ClientUsage = {
  ended(client: CountedClient, outcome: OutcomeName, usage: TokenUsage | undefined): void;
};

/** Counts in the metrics of the gateway. `now` is in milliseconds since 1970; a day begins at 00:00 UTC. */
export function createClientUsage(registry: Metrics, now: () => number): ClientUsage {
  const client = { bounded: maxClients } as const;
  const requests = registry.counter({
    name: 'portcullis_gateway_client_requests_total',
    help: 'Requests that ended, by name of the client and outcome.',
    labels: { client, outcome: outcomeNames },
  });
  const tokens = registry.counter({
    name: 'portcullis_gateway_client_tokens_total',
    help: 'Tokens by name of the client. Those of a stream without a report of its provider are estimated from its texts.',
    labels: { client, direction: ['input', 'output'], source: ['reported', 'estimated'] },
  });
  const today = registry.gauge({
    name: 'portcullis_gateway_client_day_tokens',
    help: 'Tokens that a client used on this replica, reported or estimated, since 00:00 UTC; it falls to 0 with the first request of a day.',
    labels: { client },
  });
  const budget = registry.gauge({
    name: 'portcullis_gateway_client_day_budget_tokens',
    help: 'Tokens that a client may use in a day, as its line in the file of keys says. No request is refused for it.',
    labels: { client },
  });
  let day = Math.floor(now() / dayMs);
  /** Clients with a separate series of the day; the name of any other client means the common series. */
  const counted = new Set<string>();
  let further: string | undefined;
  return {
    ended({ name = 'unnamed', dailyTokens }, outcome, usage) {
      requests.add({ client: name, outcome });
      const current = Math.floor(now() / dayMs);
      if (current !== day) {
        for (const one of counted) today.set({ client: one }, 0);
        if (further !== undefined) today.set({ client: further }, 0);
      }
      day = current;
      if (dailyTokens !== undefined) budget.set({ client: name }, dailyTokens);
      if (usage === undefined) return;
      const source = usage.isEstimated === true ? 'estimated' : 'reported';
      tokens.add({ client: name, direction: 'input', source }, usage.input);
      tokens.add({ client: name, direction: 'output', source }, usage.output);
      if (counted.size < maxClients) counted.add(name);
      else if (!counted.has(name)) further = name;
      today.add({ client: name }, usage.input + usage.output);
    },
  };
}
