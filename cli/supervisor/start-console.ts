import type { DataDirectory } from '#contracts/data-directory';
import { ListenError } from '#kit/http/listen-error';
import { firstSubject } from '../platform/administrators.ts';
import { readSignInCode } from '../platform/sign-in-code.ts';
import { type ConsoleAt, consoleProcess, signInProcess } from './console-processes.ts';
import { findLastingPort } from './free-port.ts';
import { type ConsoleMode, pinListening } from './platform-processes.ts';
import { type Relay, relayOnDemand } from './relay-on-demand.ts';
import type { StartChild } from './start-management.ts';
import { StartFailure } from './supervise.ts';

/** Persons of the example collection, who do not administer policies. */
const samplePersons = ['bob', 'eve'];

/** The address of the console; `consoleOff` is the reason why it is not served. */
export type ConsoleStart = {
  readonly console?: Relay;
  readonly consoleOff?: string;
};

type ConsoleOptions = Omit<ConsoleAt, 'persons' | 'origin' | 'port'> & {
  readonly administrators: readonly string[];
  readonly say: (sentence: string) => void;
};

/**
 * Listens on the address of the console. The console and the sign-in pages start with the platform or at the first visit: a
 * platform without visitors saves their memory.
 * @throws StartFailure if the console starts with the platform and another program uses a port, so that the start can be
 * repeated with another one
 */
export async function startConsole(
  start: StartChild,
  data: DataDirectory,
  mode: Exclude<ConsoleMode, 'never'>,
  at: ConsoleOptions,
): Promise<ConsoleStart> {
  if (at.management === undefined) return { consoleOff: 'policy management is off.' };
  const first = firstSubject(at.administrators);
  const persons = [...new Set([...(first === undefined ? [] : [first]), ...samplePersons])];
  const origin = `http://127.0.0.1:${at.ports.of('console')}`;

  async function startProcesses(): Promise<number> {
    const port = await findLastingPort();
    await Promise.all([
      start(consoleProcess(data, { ...at, origin, port, persons }), () => ({})),
      start(signInProcess(data, { ports: at.ports, origin, persons }), pinListening),
    ]);
    return port;
  }

  async function startAtVisit(): Promise<number> {
    try {
      const port = await startProcesses();
      at.say(`a visitor opened the console: the sign-in code is ${readSignInCode(data) ?? 'not written yet'}`);
      return port;
    } catch (error) {
      if (error instanceof StartFailure) at.say(`the console cannot start: ${error.message}`);
      throw error;
    }
  }

  let relay: Relay | undefined;
  try {
    const begin = mode === 'at start' ? startProcesses : startAtVisit;
    relay = await relayOnDemand(at.ports.of('console'), begin, unavailable);
    if (mode === 'at start') await relay.start();
    return { console: relay };
  } catch (error) {
    relay?.close();
    if (error instanceof ListenError) return { consoleOff: `${error.message}.` };
    if (error instanceof StartFailure && !error.isAddressTaken) return { consoleOff: error.message };
    throw error;
  }
}

const unavailable =
  'The console cannot start. The terminal of "portcullis up" and the file logs/console.log in its data directory have the cause.\n';
