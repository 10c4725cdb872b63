import { controlPlaneComponents } from '../control-plane/components.ts';
import type { Component } from '../process/component.ts';
import type { ControlPlaneRecord, WholeRecord } from '../record/record.ts';
import { spaceOf, wholeStages } from '../whole/components.ts';

/** Lists every process of a cluster in start order, without starting any. */
export function clusterComponents(record: ControlPlaneRecord | WholeRecord): readonly Component[] {
  if (record.size === 'control-plane') return controlPlaneComponents(record);
  const space = spaceOf(record);
  return [space.component, ...wholeStages(record, space).flat()];
}
