import type { AuditContent, AuditSetting } from '#contracts/audit';
import { digestOf } from '#contracts/canonical';
import { changeNote } from '#kube/client/change-author';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import type { ObservedBinding, RecordedState } from './ports.ts';

/** The members that no application changes. */
type Setting =
  | Exclude<keyof ModelBindingSpec, 'model' | 'guardrail' | 'contentProfile' | 'apply'>
  | `model.${keyof ModelBindingSpec['model']}`;

const readers = {
  'model.alias': ({ model }) => model.alias,
  'model.provider': ({ model }) => model.provider,
  'model.upstreamModel': ({ model }) => model.upstreamModel,
  'model.state': ({ model }) => model.state,
  gateway: ({ gateway }) => gateway,
  replicas: ({ replicas }) => replicas,
  extraRequestKeys: ({ extraRequestKeys }) => extraRequestKeys,
  judge: ({ judge }) => judge,
  unjudged: ({ unjudged }) => unjudged,
  streaming: ({ streaming }) => streaming,
  longConversations: ({ longConversations }) => longConversations,
} satisfies Record<Setting | AuditSetting, (spec: ModelBindingSpec) => unknown>;
const names: readonly AuditSetting[] = Object.keys(readers) as readonly (keyof typeof readers)[];

/** The settings of a ModelBinding; undefined while it has no id. */
export function settingsOf({ metadata, spec }: Stored<ModelBinding>): ObservedBinding | undefined {
  const modelId = metadata.labels?.[idLabel] ?? '';
  if (modelId === '') return undefined;
  const settings = Object.fromEntries(names.map((name) => [name, digestOf(readers[name](spec) ?? null)]));
  return { modelId, digest: digestOf(settings), settings };
}

/**
 * The entry for settings that differ from the recorded settings. The first state has no entry, because the first
 * application of a model has an entry of its own.
 */
export function changesOfSettings(
  binding: Stored<ModelBinding>,
  { generation, state: before }: RecordedState<ObservedBinding>,
  now: Date,
): readonly AuditContent[] {
  const after = settingsOf(binding);
  if (before === undefined || after === undefined || before.digest === after.digest) return [];
  const { author } = changeNote(binding.metadata);
  // The author of the newest change of the spec made this one only if no generation between the two was missed.
  const isNext = binding.metadata.generation === generation + 1;
  const changed = names.filter((name) => before.settings[name] !== after.settings[name]);
  return [
    {
      time: now.toISOString(),
      action: 'binding.update',
      outcome: 'observed',
      code: null,
      author: author === undefined || !isNext ? { kind: 'unknown' } : { kind: 'claimed', name: author },
      client: 'none',
      // A label that was changed names no other model.
      target: { type: 'model', id: before.modelId },
      operationId: null,
      traceId: null,
      before: null,
      after: null,
      settings: { before: before.digest, after: after.digest, changed },
      count: 1,
      since: null,
    },
  ];
}
