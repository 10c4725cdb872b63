import type { DataDirectory } from '#contracts/data-directory';
import type { ReadyLine } from '#kit/process/ready';
import { firstSubject } from '../platform/administrators.ts';
import { type ConsoleAt, consoleProcess, signInProcess } from './console-processes.ts';
import { pinAddresses, pinListening } from './platform-processes.ts';
import type { StartChild } from './start-management.ts';
import { StartFailure } from './supervise.ts';

/** Persons of the example collection, who do not administer policies. */
const samplePersons = ['bob', 'eve'];

/** The addresses of the console; `consoleOff` is the reason why it does not run. */
export type ConsoleStart = {
  readonly console?: ReadyLine;
  readonly consoleOff?: string;
};

/**
 * Starts the sign-in pages and the console.
 * @throws StartFailure if another program uses a port, so that the start can be repeated with another one
 */
export async function startConsole(
  start: StartChild,
  data: DataDirectory,
  at: Omit<ConsoleAt, 'persons'> & { readonly administrators: readonly string[] },
): Promise<ConsoleStart> {
  if (at.management === undefined) return { consoleOff: 'policy management is off.' };
  const first = firstSubject(at.administrators);
  const persons = [...new Set([...(first === undefined ? [] : [first]), ...samplePersons])];
  try {
    const [line] = await Promise.all([
      start(consoleProcess(data, { ...at, persons }), pinAddresses),
      start(signInProcess(data, { ports: at.ports, persons }), pinListening),
    ]);
    return { console: line };
  } catch (error) {
    if (error instanceof StartFailure && !error.isAddressTaken) return { consoleOff: error.message };
    throw error;
  }
}
