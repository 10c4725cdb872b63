import { type IdentityMode, identityOf } from '#identity/identity-settings';
import { confirmersOf } from '#identity/mcp-confirmers';
import { ConfigError, setting } from '#kit/env/read-environment';
import type { RelationsAccess } from '#relations/adapters/await-relations';
import { relationsOf, relationsSettings } from '#relations/adapters/relations-settings';
import type { BudgetLimits } from './agents/budgets/run-budgets.ts';
import type { RunLimits } from './agents/calls/limit-runs.ts';

/** The settings of a gateway that serves agents. */
export const agentSettings = {
  PORTCULLIS_AGENT_SIGNING_KEYS_FILE: setting.optional(
    setting.file({
      help: 'keys that sign the identities of agents, Ed25519; agents are served only with it. Read again each second',
    }),
  ),
  PORTCULLIS_IDENTITY: setting.choice({
    help: 'for agents: production: people have a verified token; development: headers name them, on connections of this machine only',
    choices: ['production', 'development'],
    default: 'production',
  }),
  PORTCULLIS_ISSUERS_FILE: setting.optional(
    setting.file({
      help: 'for agents: YAML list of trusted issuers of people; required if PORTCULLIS_IDENTITY is production',
    }),
  ),
  PORTCULLIS_DATABASE_URL: setting.optional(
    setting.string({ help: 'for agents: postgres://user@host:port/database without a password: rights on agents' }),
  ),
  PORTCULLIS_DATABASE_PASSWORD_FILE: setting.optional(
    setting.file({ help: 'for agents: password of the database user, read again for every connection' }),
  ),
  ...relationsSettings,
  PORTCULLIS_MCP_CONFIRMERS: setting.optional(
    setting.list({
      help: 'for agents: issuer|subject of the people who may call MCP while its profile is confirmed; others get 404',
    }),
  ),
  PORTCULLIS_CONNECTIONS_FILE: setting.optional(
    setting.path({
      help: 'for agents: connections.yaml, the outside services that flows may call, followed on change; none when absent',
    }),
  ),
  PORTCULLIS_AGENT_RUNS_PER_CALLER: setting.integer({
    help: 'concurrent runs of one caller with one agent, in this replica; its other calls, and its calls that end a run or a session, each have the same limit of their own; further ones are refused with 429',
    min: 1,
    max: 10_000,
    default: 16,
  }),
  PORTCULLIS_AGENT_RUNS_PER_MINUTE: setting.integer({
    help: 'runs of one caller with one agent that may start in a minute, in this replica; further ones get 429. All requests of a caller to agents together are limited to 20 times this number in a minute; the limit is never below 12,000',
    min: 1,
    max: 1_000_000,
    default: 600,
  }),
  PORTCULLIS_AGENT_BUDGET_PER_MINUTE: setting.integer({
    help: 'runs of one person with one agent in a minute, in all replicas together; further ones get 429; 0: no limit',
    min: 0,
    max: 1_000_000,
    default: 0,
  }),
  PORTCULLIS_AGENT_BUDGET_PER_DAY: setting.integer({
    help: 'runs of one person with one agent in a day (UTC), in all replicas together; further ones get 429; 0: no limit',
    min: 0,
    max: 100_000_000,
    default: 0,
  }),
  PORTCULLIS_AGENT_TOKENS_PER_DAY: setting.integer({
    help: 'tokens of models that runs of one person with one agent use in a day (UTC), in all replicas together; then further runs get 429; 0: no limit',
    min: 0,
    max: 1_000_000_000_000,
    default: 0,
  }),
  PORTCULLIS_AGENT_BYTES_PER_DAY: setting.integer({
    help: 'bytes of bodies of runs, tasks and MCP between one person and one agent in a day (UTC), in all replicas together; then further runs get 429; 0: no limit',
    min: 0,
    max: 1_000_000_000_000,
    default: 0,
  }),
};

export type AgentsConfig = {
  readonly issuer: string;
  readonly signingKeysFile: string;
  readonly identity: IdentityMode;
  readonly rights: RelationsAccess;
  /** Each confirmer as `issuer|subject`. */
  readonly confirmers: readonly string[];
  /** Path of connections.yaml. */
  readonly connectionsFile: string | undefined;
  readonly runs: RunLimits;
  /** The budgets of persons; undefined without a limit. */
  readonly budgets: BudgetLimits | undefined;
};

type AgentValues = Parameters<typeof relationsOf>[0] & {
  readonly PORTCULLIS_AGENT_ISSUER: string | undefined;
  readonly PORTCULLIS_AGENT_KEYS_FILE: string | undefined;
  readonly PORTCULLIS_AGENT_SIGNING_KEYS_FILE: string | undefined;
  readonly PORTCULLIS_IDENTITY: 'production' | 'development';
  readonly PORTCULLIS_ISSUERS_FILE: string | undefined;
  readonly PORTCULLIS_DATABASE_URL: string | undefined;
  readonly PORTCULLIS_DATABASE_PASSWORD_FILE: string | undefined;
  readonly PORTCULLIS_OPENFGA_TOKEN_FILE: string | undefined;
  readonly PORTCULLIS_MCP_CONFIRMERS: readonly string[] | undefined;
  readonly PORTCULLIS_CONNECTIONS_FILE: string | undefined;
  readonly PORTCULLIS_AGENT_RUNS_PER_CALLER: number;
  readonly PORTCULLIS_AGENT_RUNS_PER_MINUTE: number;
  readonly PORTCULLIS_AGENT_BUDGET_PER_MINUTE: number;
  readonly PORTCULLIS_AGENT_BUDGET_PER_DAY: number;
  readonly PORTCULLIS_AGENT_TOKENS_PER_DAY: number;
  readonly PORTCULLIS_AGENT_BYTES_PER_DAY: number;
};

/** The settings of agents; undefined for a gateway without signing keys. @throws ConfigError */
export function agentsOf(read: AgentValues): AgentsConfig | undefined {
  const signingKeysFile = read.PORTCULLIS_AGENT_SIGNING_KEYS_FILE;
  if (signingKeysFile === undefined) return undefined;
  const issuer = read.PORTCULLIS_AGENT_ISSUER;
  const { PORTCULLIS_DATABASE_URL: databaseUrl, PORTCULLIS_DATABASE_PASSWORD_FILE: databasePasswordFile } = read;
  if (issuer === undefined || databaseUrl === undefined || databasePasswordFile === undefined) {
    const names = { PORTCULLIS_AGENT_ISSUER: issuer, PORTCULLIS_DATABASE_URL: databaseUrl };
    const missing = Object.entries({ ...names, PORTCULLIS_DATABASE_PASSWORD_FILE: databasePasswordFile });
    throw new ConfigError(
      missing
        .filter(([, value]) => value === undefined)
        .map(([name]) => `${name} is missing: it must be set with PORTCULLIS_AGENT_SIGNING_KEYS_FILE`),
    );
  }
  if (read.PORTCULLIS_AGENT_KEYS_FILE !== undefined) {
    throw new ConfigError([
      'PORTCULLIS_AGENT_KEYS_FILE is set: a gateway with PORTCULLIS_AGENT_SIGNING_KEYS_FILE has the keys, so remove it',
    ]);
  }
  if (read.PORTCULLIS_IDENTITY === 'development' && read.PORTCULLIS_ISSUERS_FILE !== undefined) {
    throw new ConfigError([
      'PORTCULLIS_ISSUERS_FILE is set: in development mode no token of a person is verified, so remove one of the two',
    ]);
  }
  return {
    issuer,
    signingKeysFile,
    identity: identityOf(read.PORTCULLIS_IDENTITY, read.PORTCULLIS_ISSUERS_FILE),
    rights: {
      databaseUrl,
      databasePasswordFile,
      relations: relationsOf(read),
      openFgaTokenFile: read.PORTCULLIS_OPENFGA_TOKEN_FILE,
    },
    confirmers: confirmersOf(read.PORTCULLIS_MCP_CONFIRMERS),
    connectionsFile: read.PORTCULLIS_CONNECTIONS_FILE,
    runs: { atOnce: read.PORTCULLIS_AGENT_RUNS_PER_CALLER, perMinute: read.PORTCULLIS_AGENT_RUNS_PER_MINUTE },
    budgets: budgetsOf(read),
  };
}

function budgetsOf({
  PORTCULLIS_AGENT_BUDGET_PER_MINUTE: minute,
  PORTCULLIS_AGENT_BUDGET_PER_DAY: day,
  PORTCULLIS_AGENT_TOKENS_PER_DAY: tokens,
  PORTCULLIS_AGENT_BYTES_PER_DAY: bytes,
}: AgentValues): BudgetLimits | undefined {
  const limit = (value: number): number | undefined => (value === 0 ? undefined : value);
  if ([minute, day, tokens, bytes].every((value) => value === 0)) return undefined;
  return {
    perMinute: limit(minute),
    perDay: limit(day),
    tokensPerDay: limit(tokens),
    bytesPerDay: limit(bytes),
  };
}
