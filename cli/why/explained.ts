import type { OpenedLogs } from '../resources/resource-source.ts';

/** Runs a read. An error of the resource server is replaced by its cause, if that is known. */
export async function explained<T>(resources: Pick<OpenedLogs, 'explain'>, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw (await resources.explain(error)) ?? error;
  }
}
