import { StartFailure } from './supervise.ts';

const attempts = 3;

/**
 * Starts the processes of a platform, and starts them again with newly chosen ports if another program took a port
 * between its choice and the start of the process. @throws the last failure of this kind, and any other failure
 * immediately
 */
export async function retryWithOtherPorts<T>(start: () => Promise<T>, say: (sentence: string) => void): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof StartFailure && error.isAddressTaken) || attempt === attempts) throw error;
      say(`${error.message}; starting again with other ports`);
    }
  }
}
