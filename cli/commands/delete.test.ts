import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import { sampleBinding } from '#kube/testing/sample-resources';
import type { ResourceSource } from '../resources/resource-source.ts';
import { addDelete } from './delete.ts';

/** A server that deletes the bindings `one` and `two`, and refuses to delete others. */
function source(): ResourceSource {
  const deleted = new Set<string>();
  const client = {
    namespace: 'default',
    get: async (_kind: unknown, name: string) => {
      const { metadata, ...binding } = sampleBinding(name);
      return deleted.has(name) ? undefined : { ...binding, metadata: { ...metadata, uid: `uid-${name}` } };
    },
    async delete(_kind: unknown, name: string) {
      if (!['one', 'two'].includes(name)) throw new KubeError('unavailable', 'not now');
      deleted.add(name);
    },
  } as unknown as KubeClient;
  return {
    program: 'portcullis',
    addOptions: (command) => command,
    addWriteOptions: (command) => command,
    open: async () => ({ client, [Symbol.asyncDispose]: async () => undefined }) as never,
  };
}

async function written(...args: readonly string[]): Promise<string> {
  const program = new Command().exitOverride();
  addDelete(program, source());
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await expect(program.parseAsync(['delete', 'mb', ...args], { from: 'user' })).rejects.toThrow('not now');
    return write.mock.calls.map(([chunk]) => String(chunk)).join('');
  } finally {
    write.mockRestore();
  }
}

test('portcullis delete names what it deleted before a deletion failed, as text and as JSON', async () => {
  expect(await written('one', 'two', 'three', 'four')).toBe(
    'ModelBinding one is deleted.\nModelBinding two is deleted.\n',
  );
  expect(JSON.parse(await written('one', 'two', 'three', '-o', 'json'))).toMatchObject([
    { kind: 'ModelBinding', name: 'one', deleted: true },
    { kind: 'ModelBinding', name: 'two', deleted: true },
  ]);
});
