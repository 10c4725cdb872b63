import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A write that the API server executed. */
export type Write = {
  /** The service account, without its namespace. */
  readonly user: string;
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  /** Plural of the kind, followed by a slash and the subresource if there is one. */
  readonly resource: string;
  readonly name: string;
  /** Times at which the API server received it and had answered it, in milliseconds since 1970 with three decimals. */
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

/** Executed writes of users with this name prefix after a position of the audit log. */
export async function readWrites(path: string, users: string, from = 0): Promise<readonly Write[]> {
  const writes: Write[] = [];
  for await (const line of createInterface({ input: createReadStream(path, { start: from }) })) {
    if (!writing.test(line) || !line.includes(users) || !line.endsWith('}')) continue;
    const write = readWrite(JSON.parse(line) as Entry, users);
    if (write !== undefined) writes.push(write);
  }
  return writes;
}

function readWrite(entry: Entry, users: string): Write | undefined {
  const { objectRef, responseStatus } = entry;
  const { username } = entry.user;
  if (entry.stage !== 'ResponseComplete' || !username.startsWith(users) || objectRef === undefined) return undefined;
  if ((responseStatus?.code ?? 500) >= 300) return undefined;
  const { resource, subresource, name = '' } = objectRef;
  return {
    user: username.split(':').at(-1) ?? '',
    verb: entry.verb as Write['verb'],
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    name,
    receivedAt: millisecondsOf(entry.requestReceivedTimestamp),
    answeredAt: millisecondsOf(entry.stageTimestamp),
  };
}

/** Parses a time with six decimal places, of which Date keeps only three. */
function millisecondsOf(time: string): number {
  return Date.parse(time) + Number(time.slice(-4, -1)) / 1_000;
}
