import { existsSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import type { InstallationProblem, ProcessView, Surroundings } from '#diagnosis/surroundings';
import { openTokenFile, type TokenFile, TokenFileError } from '#kit/http/token-file';
import { isKubeError } from '#kube/client/kube-error';
import { allNamespaces } from '#kube/client/resource-path';
import { CliError } from '../errors/cli-error.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { noteOfCommand } from '../options/message-option.ts';
import { defaultNamespace } from '../options/resource-options.ts';
import { createBoundedClient } from '../resources/bounded-client.ts';
import type { OpenedResources, SourceOptions } from '../resources/resource-source.ts';
import { createResourceWriter } from '../resources/resource-writer.ts';
import { causeAndRemedy, withRemedy } from '../why/find-problems.ts';
import { localProblems } from './local-problems.ts';
import type { RunningPlatform } from './running-platform.ts';
import type { PlatformStatus, ProcessStatus } from './status-file.ts';

/** The resources of a running platform. */
export function openPlatform({ data, status }: RunningPlatform, options: SourceOptions): OpenedResources {
  const { namespace = defaultNamespace, requestTimeout, isDryRun: dryRun = false } = options;
  refuseOtherNamespace(namespace);
  const tokenFile = openApiToken(data);
  const client = createBoundedClient({ url: status.addresses.api, tokenFile, namespace, dryRun }, requestTimeout);
  return {
    client,
    writer: createResourceWriter(client, noteOfCommand(options.message)),
    surroundings: async () => surroundingsOf(status, await localProblems(data, status)),
    explain: (error) => explainError(error, data, status),
    environment: async () => ({
      approved: readProviders(existing(data.providers)),
      limits: readLimits(existing(data.limits)),
    }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/**
 * Uses the resources of a running platform. An error of the resource server is thrown with its cause, if the cause is
 * known.
 */
export async function withPlatform<T>(
  platform: RunningPlatform,
  options: SourceOptions,
  use: (resources: OpenedResources) => Promise<T>,
): Promise<T> {
  await using resources = openPlatform(platform, options);
  try {
    return await use(resources);
  } catch (error) {
    throw (await resources.explain(error)) ?? error;
  }
}

/** @throws CliError not_found */
export function refuseOtherNamespace(namespace: string): void {
  if (namespace === defaultNamespace || namespace === allNamespaces) return;
  throw new CliError(
    'not_found',
    `There is no namespace ${namespace}: this platform has the namespace ${defaultNamespace} only. Leave out --namespace.`,
  );
}

/** @throws CliError failed, with the remedy */
function openApiToken({ apiToken }: DataDirectory): TokenFile {
  try {
    return openTokenFile(apiToken);
  } catch (cause) {
    if (!(cause instanceof TokenFileError)) throw cause;
    const remedy = 'delete it, stop "portcullis up" and start it again, which makes another one';
    throw new CliError('failed', `The ${cause.message}: ${remedy}.`, { cause });
  }
}

/** Explains why an operator does not answer: names the process or the disk that is at fault. */
async function explainError(
  error: unknown,
  data: DataDirectory,
  status: PlatformStatus,
): Promise<CliError | undefined> {
  if (isKubeError(error, 'unauthenticated')) return new CliError('unauthenticated', wrongToken(data));
  if (!isKubeError(error, 'network', 'unavailable')) return undefined;
  const [problem] = (await localProblems(data, status)).filter(({ component }) => explaining.includes(component));
  return problem === undefined
    ? undefined
    : new CliError('not_running', causeAndRemedy(withRemedy(problem, 'portcullis')));
}

const explaining: readonly InstallationProblem['component'][] = ['storage', 'operator'];

function wrongToken({ apiToken }: DataDirectory): string {
  return `The operator refuses the token in ${apiToken}: the file was changed after the start. Stop "portcullis up" and start it again.`;
}

function surroundingsOf({ processes }: PlatformStatus, problems: Surroundings['problems']): Surroundings {
  const ofKind = (kind: ProcessStatus['kind']) => processes.filter((one) => one.kind === kind).map(viewOf);
  const replicas = ofKind('operator');
  const acts = replicas.find(({ ready }) => ready);
  const operator =
    acts === undefined
      ? ({
          state: 'absent',
          message: `${replicas.find(({ problem }) => problem)?.problem ?? 'it is not ready'}.`,
          replicas,
        } as const)
      : ({ state: 'leading', message: `${acts.name} is ready.`, holder: acts.name, replicas } as const);
  return { operator, gateways: ofKind('gateway'), problems };
}

function viewOf({ name, ready, answering, restarts }: ProcessStatus): ProcessView {
  if (ready) return { name, ready };
  if (!answering) return { name, ready, answering, problem: 'it is not answering' };
  return {
    name,
    ready,
    problem: restarts === 0 ? 'it is not ready yet' : `it is not ready: ${restartsText(restarts)}`,
  };
}

/** How the process last exited; empty for a process that has never exited. */
export function restartsText(restarts: number): string {
  if (restarts < 2) return restarts === 0 ? '' : 'restarted once';
  return `restarted ${restarts} times`;
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}
