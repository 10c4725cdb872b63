import { controlPlaneComponents } from './control-plane/components.ts';
import type { Component } from './process/component.ts';
import type { ControlPlaneRecord, WholeRecord } from './record.ts';
import { spaceOf, wholeStages } from './whole/components.ts';

/** Every process of a cluster in the order in which they start; starts nothing. */
export function clusterComponents(record: ControlPlaneRecord | WholeRecord): readonly Component[] {
  if (record.size === 'control-plane') return controlPlaneComponents(record);
  const space = spaceOf(record);
  return [space.component, ...wholeStages(record, space).flat()];
}
