import { AsyncLocalStorage } from 'node:async_hooks';

const running = new AsyncLocalStorage<string>();

/** Runs a command line of a program; messages within it name commands of this program. */
export function runAs<T>(program: string, run: () => Promise<T>): Promise<T> {
  return running.run(program, run);
}

/** A command of the program that runs, as a person types it, in quotes: `"portcullis get modelbindings"`. */
export function typedCommand(words: string): string {
  return `"${running.getStore() ?? 'portcullis'} ${words}"`;
}
