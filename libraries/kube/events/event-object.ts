import { randomBytes } from 'node:crypto';
import type { Stored } from '#resources/metadata';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Event } from '../client/builtin-types.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { microTime } from '../client/micro-time.ts';
import { apiVersionOf } from '../client/resource-path.ts';

/** An event of an object, for people who inspect it. */
export type EventFact = {
  readonly regarding: Pick<KubeObject, 'apiVersion' | 'kind'> & {
    readonly metadata: Pick<Stored<KubeObject>['metadata'], 'name' | 'uid'>;
  };
  readonly type: Event['type'];
  /** CamelCase, from a closed list; at most 128 characters. */
  readonly reason: string;
  /** `action` of the Event: the action that the reporter took or tried, in CamelCase; at most 128 characters. */
  readonly action: string;
  /** A sentence for people, without text of a user; truncated at 1,024 bytes. */
  readonly note: string;
};

export type Reporter = {
  /** Qualified name, such as `portcullis.dev/operator`. */
  readonly controller: string;
  /** Name of the replica; at most 128 characters. */
  readonly instance: string;
};

type Series = NonNullable<Event['series']>;

/** Size limits of events.k8s.io/v1. */
const maxNoteBytes = 1_024;
const maxWordLength = 128;
const maxNameLength = 236;

/** The Event to create, with a unique name. */
export function eventObject(
  { regarding, type, reason, action, note }: EventFact,
  { controller, instance }: Reporter,
  context: { readonly namespace: string; readonly at: Date; readonly series?: Series | undefined },
): Event {
  const { name, uid } = regarding.metadata;
  const { namespace, at, series } = context;
  const stem = name.slice(0, maxNameLength).replace(/[.-]+$/, '');
  return {
    apiVersion: apiVersionOf(builtinKinds.event),
    kind: builtinKinds.event.kind,
    metadata: { name: `${stem}.${randomBytes(8).toString('hex')}`, namespace },
    eventTime: microTime(at),
    type,
    reason: reason.slice(0, maxWordLength),
    action: action.slice(0, maxWordLength),
    note: cutNote(note),
    regarding: { apiVersion: regarding.apiVersion, kind: regarding.kind, namespace, name, uid },
    reportingController: controller,
    reportingInstance: instance.slice(0, maxWordLength),
    ...(series === undefined ? {} : { series }),
  };
}

export function seriesOf(count: number, at: Date): Series | undefined {
  return count < 2 ? undefined : { count, lastObservedTime: microTime(at) };
}

/** `note` of the Event: at most 1,024 bytes, truncated at a whole character. */
function cutNote(note: string): string {
  const bytes = Buffer.from(note, 'utf8');
  if (bytes.length <= maxNoteBytes) return note;
  let end = maxNoteBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}
