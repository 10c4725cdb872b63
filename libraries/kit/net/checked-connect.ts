import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRules } from './address-rules.ts';

/** All addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Resolves a name with the resolver of the operating system. */
export const resolveBySystem: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** A host has an address that is not allowed. The message contains neither. */
export class AddressRefusedError extends Error {
  readonly code = 'address_refused';

  constructor() {
    super('the host has an address that is not allowed');
    this.name = 'AddressRefusedError';
  }
}

type ConnectOptions = {
  readonly resolve: ResolveHost;
  readonly mayConnect: AddressRules;
  readonly timeoutMs: number;
  /** Certificates in PEM that are trusted instead of those of the operating system. */
  readonly ca?: string;
};

/**
 * Connects only to addresses that were resolved and checked: the name is resolved once, by the connection itself. If
 * one address is refused the host is refused, because another attempt could reach that address.
 */
export function checkedConnect({ resolve, mayConnect, timeoutMs, ca }: ConnectOptions): buildConnector.connector {
  const checkedLookup = lookupOf(resolve, mayConnect);
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: checkedLookup,
    ...(ca === undefined ? {} : { ca }),
  } as never);
  return (options, callback) => {
    // A host that is an address is not resolved.
    const literal = options.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(literal) !== 0 && !mayConnect(literal)) return callback(new AddressRefusedError(), null);
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (socket.remoteAddress !== undefined && mayConnect(socket.remoteAddress)) return callback(null, socket);
      socket.destroy();
      callback(new AddressRefusedError(), null);
    });
  };
}

function lookupOf(resolve: ResolveHost, mayConnect: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        if (!addresses.every(mayConnect)) return callback(new AddressRefusedError(), '');
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (first === undefined) return callback(new Error('the name has no address'), '');
        if (options.all === true) return callback(null, found);
        callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}
