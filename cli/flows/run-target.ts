import type { DataDirectory } from '#contracts/data-directory';
import { tenantIssuer } from '#identity/authorize-callers';
import { CliError } from '../errors/cli-error.ts';
import { unverifiedClaims } from '../errors/token-fault.ts';
import { type CallerOptions, callerIdentity, defaultTenant } from '../http/caller-options.ts';
import { originOf, tokenOf } from '../http/server-options.ts';
import { readClientKey } from '../platform/client-key.ts';
import { restartWith, runningPlatform } from '../platform/running-platform.ts';

/** The platform that a run calls, on this machine or elsewhere, and the person who calls. */
export type TargetOptions = Omit<CallerOptions, 'tenant'> & {
  readonly tenant?: string;
  readonly data?: string;
  readonly gateway?: string;
  readonly keyFile?: string;
  readonly serviceTokenFile?: string;
  readonly retrieval?: string;
  readonly memory?: string;
};

/** A service of a platform, or a sentence with the reason why the run does not reach it. */
export type Reach = { readonly url: URL } | { readonly absent: string };

type Identity = () => Promise<Readonly<Record<string, string>>>;

export type RunTarget = {
  readonly person: { readonly subject: string; readonly issuer: string };
  readonly tenant: string | undefined;
  /** Headers that name the person to the gateway for agents, read for each call. */
  readonly identity: Identity;
  /** The identity for collections and memories, whose services accept tokens with an act chain. */
  readonly serviceIdentity: Identity;
  /** A client key of the gateway; undefined if no key was given. */
  readonly clientKey: string | undefined;
  readonly models: Reach;
  readonly agents: Reach;
  readonly retrieval: Reach;
  readonly memory: Reach;
  /** The files of a platform on this machine; undefined for a platform elsewhere. */
  readonly data: DataDirectory | undefined;
};

/** @throws CliError usage, not_found, not_running */
export async function openRunTarget(options: TargetOptions): Promise<RunTarget> {
  const { tokenFile, serviceTokenFile = tokenFile } = options;
  const tenant = options.tenant ?? (serviceTokenFile === undefined ? defaultTenant : undefined);
  const identityBy = (file: string | undefined): Identity =>
    callerIdentity({ ...options, tenant, ...(file === undefined ? {} : { tokenFile: file }) });
  const [identity, serviceIdentity] = [identityBy(tokenFile ?? serviceTokenFile), identityBy(serviceTokenFile)];
  const person = await personOf(options, tenant);
  const reached = options.gateway === undefined ? platformHere(options) : platformElsewhere(options, options.gateway);
  return { person, tenant, identity, serviceIdentity, ...reached };
}

type Platform = Omit<RunTarget, 'person' | 'tenant' | 'identity' | 'serviceIdentity'>;

function platformHere(given: TargetOptions): Platform {
  const options = {
    '--key-file': given.keyFile,
    '--retrieval': given.retrieval,
    '--memory': given.memory,
    '--token-file': given.tokenFile,
    '--service-token-file': given.serviceTokenFile,
  };
  const named = Object.entries(options).find(([, value]) => value !== undefined)?.[0];
  if (named !== undefined) throw new CliError('usage', `${named} is for another platform: name its --gateway too.`);
  const { status, data } = runningPlatform(given.data);
  const { gateway, agents, retrieval: found, memory: kept } = status.addresses;
  return {
    clientKey: readClientKey(status.clientKeyFile),
    models: reach(gateway, ''),
    agents: reach(agents, `No gateway of the platform serves agents: ${restartWith('--agents')}`),
    retrieval: reach(found, `The platform has no retrieval service: ${restartWith('--retrieval')}`),
    memory: reach(kept, `The platform has no memory service: ${restartWith('--memory')}`),
    data,
  };
}

function platformElsewhere({ data, keyFile, retrieval, memory }: TargetOptions, given: string): Platform {
  if (data !== undefined) throw new CliError('usage', '--gateway names another platform: leave out --data.');
  const gateway = originOf(given, '--gateway');
  const origin = (value: string | undefined, option: string) => (value === undefined ? value : originOf(value, option));
  const remedy = 'give --key-file the file of a client key of the gateway';
  return {
    clientKey: keyFile === undefined ? undefined : readClientKey(keyFile, remedy),
    models: reach(keyFile === undefined ? undefined : gateway, 'Give a client key of the gateway: --key-file FILE.'),
    agents: reach(gateway, ''),
    retrieval: reach(origin(retrieval, '--retrieval'), 'Give the origin of the retrieval service: --retrieval URL.'),
    memory: reach(origin(memory, '--memory'), 'Give the origin of the memory service: --memory URL.'),
    data: undefined,
  };
}

function reach(origin: string | undefined, absent: string): Reach {
  return origin === undefined ? { absent } : { url: new URL(origin) };
}

/** The person of the run: of the token, which the services verify, or the named person of development mode. */
async function personOf(
  { tokenFile: own, serviceTokenFile, as }: TargetOptions,
  tenant: string | undefined,
): Promise<RunTarget['person']> {
  const tokenFile = own ?? serviceTokenFile;
  if (tokenFile === undefined) {
    return { subject: as ?? process.env['PORTCULLIS_AS'] ?? '', issuer: tenantIssuer(tenant ?? defaultTenant) };
  }
  const { sub, iss } = unverifiedClaims(await tokenOf(tokenFile)());
  if (typeof sub === 'string' && typeof iss === 'string') return { subject: sub, issuer: iss };
  throw new CliError('usage', `The token in ${tokenFile} names no person: --token-file needs a JWT with sub and iss.`);
}
