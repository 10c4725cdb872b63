import type { MemoryClient } from '../memory/memory-client.ts';
import { namedPerson, openMemoryClient } from '../memory/memory-options.ts';
import { callerOf, type PartialLine } from './read-line.ts';

/** Maximum number of memories that one completion requests. */
const mostMemories = 200;

/** Commands whose words are ids of memories. */
const commands: ReadonlySet<string> = new Set(['get', 'update', 'history', 'delete']);

type Find = (client: MemoryClient, line: PartialLine) => Promise<readonly string[]>;

/** The finder of a word from the memory service: the id of a memory. */
export function memoryFinder(placeholder: string, { command, open }: PartialLine): Find | undefined {
  if (open !== undefined || (placeholder !== 'id' && placeholder !== 'ids')) return undefined;
  return command.parent?.name() === 'memory' && commands.has(command.name()) ? memoryIds : undefined;
}

/**
 * Queries the service that the command line names, as the caller that it names. @throws CliError, the errors of the
 * client
 */
export function findInMemory(find: Find, line: PartialLine, requestTimeout: number): Promise<readonly string[]> {
  return find(openMemoryClient({ ...callerOf(line), requestTimeout }), line);
}

/**
 * The newest memories. A service in production mode lists only the memories of a scope, so that with a token `--agent`
 * or `--run` is needed.
 */
async function memoryIds(client: MemoryClient, line: PartialLine): Promise<readonly string[]> {
  const { operands, options } = line;
  const { agent, run } = options;
  const scope = { ...(agent === undefined ? {} : { agent }), ...(run === undefined ? {} : { run }) };
  const memories = await client.list(scope, namedPerson(callerOf(line)), mostMemories);
  return memories.map(({ id }) => id).filter((id) => !operands.includes(id));
}
