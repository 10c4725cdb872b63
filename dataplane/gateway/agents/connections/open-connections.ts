import { Agent, type Dispatcher } from 'undici';
import { type FlowConnection, readConnectionsFile } from '#environment/connections-file';
import { followFiles } from '#environment/follow-files';
import { ConfigError } from '#kit/env/config-error';
import { openTokenFile, type TokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import { type AddressRules, createAddressRules, createNetworkRules } from '#kit/net/address-rules';
import { checkedConnect, type ResolveHost, resolveBySystem } from '#kit/net/checked-connect';
import { ConnectionError } from './connection-error.ts';

/** One connection in its current state. */
export type OpenConnection = {
  readonly connection: FlowConnection;
  readonly dispatcher: Dispatcher;
  /** The header with the credential, read again after a change. @throws ConnectionError credential_unavailable */
  credential(): Readonly<Record<string, string>>;
  /** Counts the call until disposal; undefined if the connection has as many calls as it may have. */
  begin(): Disposable | undefined;
};

export type FlowConnections = AsyncDisposable & { find(name: string): OpenConnection | undefined };

export const noConnections: FlowConnections = { find: () => undefined, [Symbol.asyncDispose]: async () => undefined };

type ConnectionsOptions = {
  readonly file: string;
  /** Path of the file of a credential. */
  readonly credentialFile: (name: string) => string;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** The resolver of the operating system by default. */
  readonly resolve?: ResolveHost;
};

const maxHeaderSize = 16_384;

/**
 * Opens the connections of a file and follows its changes; if the changed file has a problem, the earlier connections
 * stay in use.
 * @throws ConfigError when the file cannot be used at the start
 */
export async function openConnections(options: ConnectionsOptions): Promise<FlowConnections> {
  const { file, logger } = options;
  let open = new Map<string, OpenConnection>();
  const followed = await followFiles({
    paths: [file],
    async read() {
      const { value, problems } = await readConnectionsFile(file);
      if (problems.length > 0) throw new ConfigError(problems);
      return value;
    },
    onTaken(connections) {
      const before = open;
      open = new Map(connections.map((connection) => [connection.name, openOne(connection, options)]));
      // Calls that have begun end with the client that they began with.
      for (const { dispatcher } of before.values()) void dispatcher.close();
      logger.info('connections_loaded', { connections: connections.length });
    },
    onRefused(problems) {
      for (const problem of problems) logger.error('connections_refused', { problem });
    },
  });
  return {
    find: (name) => open.get(name),
    async [Symbol.asyncDispose]() {
      await followed[Symbol.asyncDispose]();
      await Promise.all([...open.values()].map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function openOne(
  connection: FlowConnection,
  { credentialFile, resolve = resolveBySystem }: Pick<ConnectionsOptions, 'credentialFile' | 'resolve'>,
): OpenConnection {
  const connect = checkedConnect({ resolve, mayConnect: rulesOf(connection), timeoutMs: connection.timeoutMs });
  // Without pipelining a connection is not reused: the next call resolves the name and checks the address again.
  const dispatcher = new Agent({ connect, pipelining: 0, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0 });
  let token: TokenFile | undefined;
  let calls = 0;
  return {
    connection,
    dispatcher,
    credential() {
      const { credential, credentialHeader } = connection;
      if (credential === undefined) return {};
      try {
        token ??= openTokenFile(credentialFile(credential));
        const value = token.first();
        return { [credentialHeader]: credentialHeader === 'authorization' ? `Bearer ${value}` : value };
      } catch {
        throw new ConnectionError('credential_unavailable');
      }
    },
    begin() {
      if (calls >= connection.maxConcurrency) return undefined;
      calls += 1;
      return {
        [Symbol.dispose]() {
          calls -= 1;
        },
      };
    },
  };
}

/**
 * A connection without TLS may reach the allowed networks only, so that no credential is sent unencrypted over the
 * internet.
 */
function rulesOf({ url, allowedNetworks }: FlowConnection): AddressRules {
  return url.protocol === 'https:' ? createAddressRules(allowedNetworks) : createNetworkRules(allowedNetworks);
}
