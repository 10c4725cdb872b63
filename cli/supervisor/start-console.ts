import type { DataDirectory } from '#contracts/data-directory';
import { ListenError } from '#kit/http/listen-error';
import { examplePerson, firstSubject } from '../platform/administrators.ts';
import { readSignInCode } from '../platform/sign-in-code.ts';
import { type ConsoleAt, consoleProcess, signInProcess } from './console-processes.ts';
import { findLastingPort, isPortFree } from './free-port.ts';
import type { LastingPorts } from './lasting-ports.ts';
import { type ConsoleMode, pinListening } from './platform-processes.ts';
import { type Relay, relayOnDemand } from './relay-on-demand.ts';
import type { StartChild } from './start-management.ts';
import { StartFailure } from './supervise.ts';

/** Persons of the examples without a role: the owner of the agent and the collection, and two readers of the collection. */
const samplePersons = [examplePerson, 'bob', 'eve'];

/** The address of the console; `consoleOff` is the reason why it is not served. */
export type ConsoleStart = {
  readonly console?: Relay;
  readonly consoleOff?: string;
};

type ConsoleOptions = Omit<ConsoleAt, 'persons' | 'origin' | 'port' | 'adminPort' | 'signInPort'> & {
  readonly ports: LastingPorts;
  readonly administrators: readonly string[];
  readonly say: (sentence: string) => void;
  /** A signal that is aborted when the platform stops. */
  readonly signal: AbortSignal;
};

/**
 * Listens on the address of the console. The console and the sign-in pages start with the platform or at the first
 * visit: without visitors the platform saves their memory.
 * @throws StartFailure if another program uses a port, so that the start of the platform can be repeated with another
 * port; the reason of the signal
 */
export async function startConsole(
  start: StartChild,
  data: DataDirectory,
  mode: Exclude<ConsoleMode, 'never'>,
  at: ConsoleOptions,
): Promise<ConsoleStart> {
  if (at.management === undefined) return { consoleOff: 'policy management is off.' };
  const { ports, say, signal } = at;
  const first = firstSubject(at.administrators);
  const persons = [...new Set([...(first === undefined ? [] : [first]), ...samplePersons])];
  const origin = `http://127.0.0.1:${ports.of('console')}`;
  const kept = [ports.of('console admin'), ports.of('signin')];

  /** The port of the last start, or a free port: the process may start hours after the platform. */
  async function portOf(name: string): Promise<number> {
    const port = ports.of(name);
    return (await isPortFree(port)) ? port : await findLastingPort(kept);
  }

  // If one of both processes fails, the other one keeps running and is not started again.
  const signInPort = once(() => portOf('signin'));
  const signIn = once(async () => {
    const port = await signInPort();
    await start(signInProcess(data, { port, origin, persons }), pinListening);
  });
  const console = once(async () => {
    const port = await findLastingPort([...kept, await signInPort()]);
    const own = { port, adminPort: await portOf('console admin'), signInPort: await signInPort(), origin, persons };
    await start(consoleProcess(data, { ...at, ...own }), () => ({}));
    return port;
  });

  async function startProcesses(): Promise<number> {
    const [port] = await Promise.all([console(), signIn()]);
    return port;
  }

  async function startAtVisit(): Promise<number> {
    try {
      const port = await startProcesses();
      say(`a visitor opened the console: the sign-in code is ${readSignInCode(data) ?? 'not written yet'}`);
      return port;
    } catch (error) {
      if (!signal.aborted) say(`the console cannot start: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }

  let relay: Relay | undefined;
  try {
    const begin = mode === 'at start' ? startProcesses : startAtVisit;
    relay = await relayOnDemand(ports.of('console'), begin, unavailable);
    signal.throwIfAborted();
    if (mode === 'at start') await relay.start();
    return { console: relay };
  } catch (error) {
    relay?.close();
    if (error instanceof ListenError) {
      if (error.code === 'port_in_use')
        throw new StartFailure('console', 'could not listen', `${error.message} (port_in_use)`);
      return { consoleOff: `${error.message}.` };
    }
    if (error instanceof StartFailure && !error.isAddressTaken) return { consoleOff: error.message };
    throw error;
  }
}

/** Begins only once; after a failure, the next call begins again. */
function once<T>(begin: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= begin().catch((error: unknown) => {
      begun = undefined;
      throw error;
    });
    return begun;
  };
}

const unavailable =
  'The console does not run. The terminal of "portcullis up" and the files logs/console.log and logs/signin.log in its data directory have the cause.\n';
