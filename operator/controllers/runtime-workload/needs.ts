import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { namedWorkloads } from '../../applications/named-workloads.ts';
import { isApplied } from '../../applications/outcome-history.ts';
import { readPrevious } from '../../applications/previous-application.ts';
import type { Stores } from '../../caches/caches.ts';
import type { ServedPolicy } from '../../environment/served-policies.ts';
import type { ServedPin } from '../../served/ports.ts';
import type { Need } from './snapshot.ts';

type Objects = {
  /** Routes and bindings that may refer to the workload; the list leaves out all others. */
  readonly routes: readonly Stored<GatewayRoute>[];
  readonly bindings: readonly Stored<ModelBinding>[];
  bindingOf(route: string): Stored<ModelBinding> | undefined;
  readonly pins: ReadonlyMap<string, ServedPin>;
};

export type Needs = {
  /** Which applications need the workload, read from the caches. */
  of(workload: string): Need;
  isNeeded(workload: string): boolean;
  /** Which applications need the workload, read live from the API server. */
  among(workload: string, objects: Pick<Objects, 'routes' | 'bindings' | 'pins'>): Need;
};

/**
 * A workload is needed by every route that names it, by a route with an unconfirmed application as the target of a
 * rollback, by every binding whose status names it as the pinned or the starting workload, and by every policy that is
 * served directly, including the previous targets of its address.
 * @param options.starting names of bindings and of served policies whose pass has requested the workload, which their
 * status may not show yet
 */
export function createNeeds(options: {
  readonly stores: Pick<Stores, 'bindings' | 'routes'>;
  readonly entries: readonly Pick<ServedPolicy, 'name' | 'replicas'>[];
  readonly pins: () => ReadonlyMap<string, ServedPin>;
  readonly starting: (workload: string) => {
    readonly bindings: readonly string[];
    readonly served: readonly string[];
  };
}): Needs {
  const { stores, entries, pins, starting } = options;

  function fromCaches(workload: string): Objects {
    return {
      routes: stores.routes.by('workload', workload),
      bindings: stores.bindings.by('workload', workload),
      bindingOf: stores.bindings.get,
      pins: pins(),
    };
  }

  function* askers(workload: string, objects: Objects): Generator<readonly [string, number]> {
    for (const route of objects.routes) {
      const binding = objects.bindingOf(route.metadata.name);
      if (routeNeeds(route, binding, workload)) yield [route.metadata.name, binding?.spec.replicas ?? 1];
    }
    for (const binding of objects.bindings) {
      if (bindingNeeds(binding, workload)) yield [binding.metadata.name, binding.spec.replicas];
    }
    const passes = starting(workload);
    for (const name of passes.bindings) {
      const binding = objects.bindingOf(name);
      if (binding !== undefined && !isDeleted(binding)) yield [name, binding.spec.replicas];
    }
    const served = [...objects.pins].filter(([, pin]) => pin.workload === workload || pin.previous.includes(workload));
    for (const name of [...served.map(([name]) => name), ...passes.served]) {
      yield [`served policy ${name}`, entries.find((entry) => entry.name === name)?.replicas ?? 1];
    }
  }

  function needAmong(workload: string, objects: Objects): Need {
    const names = new Set<string>();
    let most = 0;
    for (const [name, replicas] of askers(workload, objects)) {
      names.add(name);
      most = Math.max(most, replicas);
    }
    return { askers: [...names], replicas: most };
  }

  return {
    of: (workload) => needAmong(workload, fromCaches(workload)),
    isNeeded: (workload) => askers(workload, fromCaches(workload)).next().done !== true,
    among(workload, objects) {
      const byName = new Map(objects.bindings.map((binding) => [binding.metadata.name, binding]));
      return needAmong(workload, { ...objects, bindingOf: (name) => byName.get(name) });
    },
  };
}

function routeNeeds(route: Stored<GatewayRoute>, binding: ModelBinding | undefined, workload: string): boolean {
  if (route.spec.workload === workload) return true;
  const previous = readPrevious(route);
  if (previous?.mode !== 'Policy' || previous.workload !== workload) return false;
  return !isApplied(binding?.status?.applications ?? [], route.spec.generationId);
}

function bindingNeeds(binding: Stored<ModelBinding>, workload: string): boolean {
  return !isDeleted(binding) && namedWorkloads(binding).includes(workload);
}

function isDeleted({ metadata }: Stored<ModelBinding>): boolean {
  return metadata.deletionTimestamp !== undefined;
}
