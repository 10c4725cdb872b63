import { expect, test } from 'vitest';
import { createObjectStore } from '#kube/watch/object-store';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { bindingObject } from '../../testing/objects.ts';
import type { ServedNeed } from './needed-workloads.ts';
import { createNeedsLedger } from './needs-ledger.ts';

/** A ledger over bindings that need what their upstream model is called. */
function open() {
  const bindings = createObjectStore<ModelBinding>({});
  const routes = createObjectStore<GatewayRoute>({});
  const changed: string[] = [];
  const asked: (string | undefined)[] = [];
  let served: ReadonlyMap<string, ServedNeed> = new Map();
  let isBroken = false;
  const ledger = createNeedsLedger({
    stores: { bindings, routes },
    served: { pins: () => new Map() },
    onChange: (workload) => void changed.push(workload),
    finder: {
      ofServed: async () => served,
      find: () => Promise.reject(new Error('nothing is read live')),
      async ofBinding(binding) {
        asked.push(binding?.metadata.name);
        if (isBroken) throw new Error('not now');
        return binding === undefined ? [] : [binding.spec.model.upstreamModel];
      },
    },
  });
  function set(name: string, workload: string, replicas = 1): void {
    const { spec, ...binding } = bindingObject(name, { replicas });
    const object = { ...binding, spec: { ...spec, model: { ...spec.model, upstreamModel: workload } } };
    bindings.set(object as Stored<ModelBinding>);
    ledger.touch(name);
  }
  return {
    ledger,
    bindings,
    changed,
    asked,
    set,
    serve(next: ReadonlyMap<string, ServedNeed>) {
      served = next;
    },
    fail(isNow: boolean) {
      isBroken = isNow;
    },
  };
}

test('only what was touched is found anew, and only what changed is told', async () => {
  const { ledger, changed, asked, set } = open();
  set('one', 'a');
  set('two', 'a');
  await ledger.settle();
  expect(ledger.of('a')).toEqual({ askers: ['one', 'two'], replicas: 1 });
  expect(changed).toEqual(['a']);
  set('two', 'b', 3);
  await ledger.settle();
  expect(asked).toEqual(['one', 'two', 'two']);
  expect(changed).toEqual(['a', 'b']);
  expect(ledger.of('b')).toEqual({ askers: ['two'], replicas: 3 });
});

test('a workload whose last asker goes is needed no more, and is told', async () => {
  const { ledger, bindings, changed, set } = open();
  set('one', 'a');
  await ledger.settle();
  bindings.remove('one');
  ledger.touch('one');
  await ledger.settle();
  expect(ledger.isNeeded('a')).toBe(false);
  expect(ledger.of('a')).toEqual({ askers: [], replicas: 0 });
  expect(changed).toEqual(['a', 'a']);
});

test('addresses need what they lead to until they are gone', async () => {
  const { ledger, serve } = open();
  serve(new Map([['served policy p', { workloads: ['a'], replicas: 2 }]]));
  await ledger.settle();
  expect(ledger.of('a')).toEqual({ askers: ['served policy p'], replicas: 2 });
  serve(new Map());
  await ledger.settle();
  expect(ledger.isNeeded('a')).toBe(false);
});

test('what could not be told is told the next time', async () => {
  const { ledger, set, fail } = open();
  set('one', 'a');
  fail(true);
  await expect(ledger.settle()).rejects.toThrow('not now');
  expect(ledger.isNeeded('a')).toBe(false);
  fail(false);
  await ledger.settle();
  expect(ledger.isNeeded('a')).toBe(true);
});
