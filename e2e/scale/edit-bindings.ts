import { setTimeout as pause } from 'node:timers/promises';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import type { Write } from './audit-log.ts';
import { bindingName } from './make-objects.ts';
import type { ScaleWorld } from './open-scale-world.ts';

/** Times of an edit: when a watch reported it, and the first write that followed. */
type Edit = {
  readonly binding: string;
  /** `edit` changes the route only, `application` starts a new application. */
  readonly sort: 'edit' | 'application';
  readonly generation: number;
  /** Time of the API server's answer. */
  readonly answeredAt: number;
};

export type TimedEdit = Edit & { readonly seenAt: number; readonly writtenAt: number; readonly user: string };

type Editor = AsyncDisposable & {
  readonly edits: readonly Edit[];
  /** The edits after which the operator wrote the route, with the time of that write. */
  timed(writes: readonly Write[]): readonly TimedEdit[];
};

const wallClock = (): number => performance.timeOrigin + performance.now();

/** Edits bindings one after another, each at most once, without waiting for the operator's writes. */
export async function startEditing(
  world: ScaleWorld,
  options: { readonly bindings: readonly number[]; readonly everyMs: number },
): Promise<Editor> {
  const { server, client } = world;
  const args = [server.controlPlane.kubeconfigFile, client.namespace];
  const notes = await startProcess({ file: 'e2e/scale/note-edits.ts', args, environment: {} });
  const edits: Edit[] = [];
  let isOpen = true;

  async function editOne(index: number, sort: Edit['sort']): Promise<void> {
    const binding = bindingName(index);
    const value = `${sort}-${Date.now()}`;
    const path = sort === 'edit' ? '/spec/model/upstreamModel' : '/spec/apply';
    const edited = await client.patch<ModelBinding>(kinds.modelBinding, binding, [{ op: 'add', path, value }]);
    edits.push({ binding, sort, generation: edited.metadata.generation, answeredAt: wallClock() });
  }
  async function editAll(): Promise<void> {
    for (const [at, index] of options.bindings.entries()) {
      if (!isOpen) return;
      await editOne(index, at % 2 === 0 ? 'edit' : 'application');
      await pause(options.everyMs);
    }
  }
  const editing = editAll();
  return {
    edits,
    timed: (writes) => timeEdits(edits, notes, writes),
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await editing;
      await notes[Symbol.asyncDispose]();
    },
  };
}

function timeEdits(edits: readonly Edit[], notes: RunningProcess, writes: readonly Write[]): readonly TimedEdit[] {
  const seen = new Map<string, number>();
  for (const [, edit = '', at] of notes.log().matchAll(/^(\S+ \d+) ([\d.]+)$/gm)) seen.set(edit, Number(at));
  const byName = new Map<string, Write[]>();
  for (const write of writes) byName.set(write.name, [...(byName.get(write.name) ?? []), write]);
  return edits.flatMap((edit) => {
    const seenAt = seen.get(`${edit.binding} ${edit.generation}`);
    // A write that the API server received before this watch reported the edit was also caused by the edit.
    const first = byName.get(edit.binding)?.find(({ answeredAt }) => answeredAt >= edit.answeredAt - 5);
    if (seenAt === undefined || first === undefined) return [];
    return [{ ...edit, seenAt, writtenAt: first.receivedAt, user: first.user }];
  });
}

/** Changes annotations of bindings at a steady rate, which requires no write of the operator. */
export function churn(world: ScaleWorld, bindings: readonly number[], perSecond: number): AsyncDisposable {
  let isOpen = true;
  let count = 0;
  const begun = performance.now();
  async function change(): Promise<void> {
    while (isOpen) {
      count += 1;
      const binding = bindingName(bindings[count % bindings.length] ?? 0);
      const value = { 'example.com/seen': String(count) };
      await world.client
        .patch(kinds.modelBinding, binding, [{ op: 'add', path: '/metadata/annotations', value }])
        .catch((error: unknown) => {
          if (!isKubeError(error, 'conflict', 'precondition_failed')) throw error;
        });
      await pause(Math.max(0, begun + (count / perSecond) * 1_000 - performance.now()));
    }
  }
  const changing = Promise.all(Array.from({ length: 4 }, change));
  return {
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await changing;
    },
  };
}
