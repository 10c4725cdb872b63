import { join } from 'node:path';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { Logger } from '#kit/log/logger';
import type { RunnableWorkload, WorkloadObservation, WorkloadRequest, Workloads } from '../../ports.ts';
import { type ProcessManifest, readManifest, renderManifest } from './manifest.ts';
import { type Replica, startReplica } from './replica.ts';

/** Processes that start at the same time; each compiles its bundle. */
const startsAtOnce = 4;
/** Time for which a surplus process keeps serving, so that gateways can load a route without its address. */
const retireMs = 5_000;

type ProcessesOptions = {
  /** `runtime/main.ts` of this checkout. */
  readonly runtimeFile: string;
  /** The build of this checkout, which is the only build that can run here. */
  readonly build: string;
  readonly bundlesDirectory: string;
  readonly logsDirectory: string;
  readonly runDirectory: string;
  readonly secretsDirectory: string;
  readonly tokenFile: string;
  /** Variables that the processes inherit. */
  readonly inherited: Readonly<NodeJS.ProcessEnv>;
  readonly logger: Logger;
  /** Grace period of surplus processes, milliseconds; 5,000 by default. */
  readonly retireMs?: number;
};

type Running = {
  readonly manifest: string;
  readonly replicas: Replica[];
  /** Surplus processes in the order of their index; the last process is the first to be used again. */
  readonly retiring: { readonly replica: Replica; readonly timer: NodeJS.Timeout }[];
  readonly addresses: readonly string[];
};

/** Workloads as child processes, which listen on loopback and end together with the operator. */
export function createProcesses(options: ProcessesOptions): Workloads {
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  const starts = createSemaphore(startsAtOnce);
  let listener: (name: string) => void = () => undefined;

  function startOne(name: string, index: number, bundle: string, address: string | undefined): Replica {
    const messageFile = join(options.runDirectory, `${name}-${index}.reason`);
    return startReplica({
      file: options.runtimeFile,
      env: {
        ...options.inherited,
        PORTCULLIS_BUNDLE_FILE: join(options.bundlesDirectory, `${bundle}.json`),
        PORTCULLIS_TOKEN_FILE: options.tokenFile,
        PORTCULLIS_SECRETS_DIR: options.secretsDirectory,
        PORTCULLIS_TERMINATION_MESSAGE_FILE: messageFile,
      },
      messageFile,
      logFile: join(options.logsDirectory, `${name}-${index}.log`),
      address,
      starts,
      onChange: () => listener(name),
      onStart: (pid) => options.logger.info('runtime_started', { workload: name, replica: index, pid }),
      onEnd: (reason) => options.logger.warn('runtime_ended', { workload: name, replica: index, reason }),
    });
  }

  function end(replicas: readonly Replica[]): void {
    for (const replica of replicas) {
      const stopped = replica.stop().finally(() => ending.delete(stopped));
      ending.add(stopped);
    }
  }

  function ensure(request: WorkloadRequest): void {
    const manifest = runnable(request);
    if (manifest === undefined) {
      throw new TypeError(`the workload ${request.name} cannot be run here`);
    }
    const held = running.get(request.name) ?? {
      manifest: request.manifest,
      replicas: [],
      retiring: [],
      addresses: request.addresses,
    };
    if (held.manifest !== request.manifest) throw new TypeError(`the workload ${request.name} has another manifest`);
    running.set(request.name, held);
    while (held.replicas.length > request.replicas) retire(held);
    while (held.replicas.length < request.replicas) {
      const index = held.replicas.length;
      held.replicas.push(recall(held) ?? startOne(request.name, index, manifest.bundle, held.addresses[index]));
    }
  }

  /** Removes the last process from the observation, and ends it once gateways no longer use its address. */
  function retire(held: Running): void {
    const replica = held.replicas.pop();
    if (replica === undefined) return;
    const timer = setTimeout(() => {
      held.retiring.splice(held.retiring.indexOf(entry), 1);
      end([replica]);
    }, options.retireMs ?? retireMs);
    const entry = { replica, timer };
    held.retiring.push(entry);
  }

  function recall(held: Running): Replica | undefined {
    const entry = held.retiring.pop();
    clearTimeout(entry?.timer);
    return entry?.replica;
  }

  function endAll({ replicas, retiring }: Running): void {
    for (const { timer } of retiring) clearTimeout(timer);
    end([...replicas, ...retiring.map(({ replica }) => replica)]);
  }

  function runnable({ build, manifest }: RunnableWorkload): ProcessManifest | undefined {
    const read = readManifest(manifest);
    return read !== undefined && build === options.build && read.build === build ? read : undefined;
  }

  return {
    canRun: (workload) => runnable(workload) !== undefined,
    render: renderManifest,
    ensure,
    observe: (name) => observe(running.get(name)?.replicas ?? []),
    remove(name) {
      const held = running.get(name);
      if (held !== undefined) endAll(held);
      running.delete(name);
    },
    has: (name) => running.has(name),
    onChange(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      for (const held of running.values()) endAll(held);
      running.clear();
      await Promise.all(ending);
    },
  };
}

function observe(replicas: readonly Replica[]): WorkloadObservation {
  return {
    addresses: replicas.flatMap((replica) => replica.address ?? []),
    ready: replicas.filter((replica) => replica.ready).length,
    problem: replicas.find((replica) => replica.problem !== undefined)?.problem,
  };
}
