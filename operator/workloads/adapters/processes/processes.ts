import { join } from 'node:path';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { Logger } from '#kit/log/logger';
import type { WorkloadObservation, WorkloadRequest, Workloads } from '../../ports.ts';
import { readManifest, renderManifest } from './manifest.ts';
import { type Replica, startReplica } from './replica.ts';

/** Processes that compile their bundle at the same time. */
const startsAtOnce = 4;

export type ProcessesOptions = {
  /** The Node that runs the processes. */
  readonly executable: string;
  /** `runtime/main.ts` of this checkout. */
  readonly runtimeFile: string;
  /** The only build that can be run here. */
  readonly build: string;
  readonly bundlesDirectory: string;
  readonly logsDirectory: string;
  readonly runDirectory: string;
  readonly secretsDirectory: string;
  readonly tokenFile: string;
  /** What the processes take from the environment of this one. */
  readonly inherited: Readonly<NodeJS.ProcessEnv>;
  readonly logger: Logger;
};

type Running = { readonly manifest: string; replicas: Replica[]; addresses: readonly string[] };

/** Workloads as child processes of this one: they answer on loopback and end when it ends. */
export function createProcesses(options: ProcessesOptions): Workloads {
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  const starts = createSemaphore(startsAtOnce);
  let listener: (name: string) => void = () => undefined;

  function startOne(name: string, index: number, bundle: string, address: string | undefined): Replica {
    const messageFile = join(options.runDirectory, `${name}-${index}.reason`);
    return startReplica({
      executable: options.executable,
      file: options.runtimeFile,
      env: {
        ...options.inherited,
        PORTCULLIS_BUNDLE_FILE: join(options.bundlesDirectory, `${bundle}.json`),
        PORTCULLIS_TOKEN_FILE: options.tokenFile,
        PORTCULLIS_SECRETS_DIR: options.secretsDirectory,
        PORTCULLIS_TERMINATION_MESSAGE_FILE: messageFile,
        PORTCULLIS_EXIT_WITH_STDIN: '1',
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
    const manifest = readManifest(request.manifest);
    if (manifest === undefined || !isRunnable(manifest.build)) {
      throw new TypeError(`the workload ${request.name} cannot be run here`);
    }
    const held = running.get(request.name) ?? {
      manifest: request.manifest,
      replicas: [],
      addresses: request.addresses,
    };
    if (held.manifest !== request.manifest) throw new TypeError(`the workload ${request.name} has another manifest`);
    running.set(request.name, held);
    end(held.replicas.splice(request.replicas));
    while (held.replicas.length < request.replicas) {
      const index = held.replicas.length;
      held.replicas.push(startOne(request.name, index, manifest.bundle, held.addresses[index]));
    }
  }

  function isRunnable(build: string): boolean {
    return build === options.build;
  }

  return {
    canRun: isRunnable,
    render: renderManifest,
    ensure,
    observe: (name) => observe(running.get(name)?.replicas ?? []),
    remove(name) {
      end(running.get(name)?.replicas ?? []);
      running.delete(name);
    },
    names: () => [...running.keys()],
    onChange(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      for (const { replicas } of running.values()) end(replicas);
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
