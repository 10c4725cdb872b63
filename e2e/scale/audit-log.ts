import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A request that the API server took and carried out. */
export type Write = {
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  /** Plural of the kind, with the subresource after a slash where there is one. */
  readonly resource: string;
  readonly name: string;
  /** When the API server received it and when it had answered, milliseconds since 1970 with microseconds. */
  readonly receivedAt: number;
  readonly answeredAt: number;
};

type Entry = {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
};

const writing = /"verb":"(?:create|update|patch|delete)"/;

/** A position in the log, so that what follows can be read alone. */
export function endOf(path: string): number {
  return statSync(path).size;
}

/** The writes of one user after a position that the API server carried out, in the order of the log. */
export async function readWrites(path: string, user: string, from = 0): Promise<readonly Write[]> {
  const writes: Write[] = [];
  for await (const line of createInterface({ input: createReadStream(path, { start: from }) })) {
    if (!writing.test(line) || !line.includes(user) || !line.endsWith('}')) continue;
    const write = readWrite(JSON.parse(line) as Entry, user);
    if (write !== undefined) writes.push(write);
  }
  return writes;
}

function readWrite(entry: Entry, user: string): Write | undefined {
  const { objectRef, responseStatus } = entry;
  if (entry.stage !== 'ResponseComplete' || entry.user.username !== user || objectRef === undefined) return undefined;
  if ((responseStatus?.code ?? 500) >= 300) return undefined;
  const { resource, subresource, name = '' } = objectRef;
  return {
    verb: entry.verb as Write['verb'],
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    name,
    receivedAt: millisecondsOf(entry.requestReceivedTimestamp),
    answeredAt: millisecondsOf(entry.stageTimestamp),
  };
}

/** Of a time with six decimal places, of which Date keeps three. */
function millisecondsOf(time: string): number {
  return Date.parse(time) + Number(time.slice(-4, -1)) / 1_000;
}
