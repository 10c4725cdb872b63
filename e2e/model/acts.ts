import fc from 'fast-check';
import { asking, uncompilable } from './operator-process.ts';

/** Actions of users, networks and machines on an installation, in any order and without waiting for each other. */
export type Act =
  | { readonly do: 'save_policy'; readonly policy: string; readonly term: string }
  | { readonly do: 'archive_policy'; readonly policy: string; readonly archived: boolean }
  | { readonly do: 'delete_policy'; readonly policy: string }
  | { readonly do: 'apply'; readonly binding: string; readonly policy: string; readonly revision: number }
  /** A binding changes from A to B and back to A almost at once. */
  | { readonly do: 'back_and_forth'; readonly binding: string; readonly revision: number; readonly newTokens: boolean }
  | { readonly do: 'unguard'; readonly binding: string }
  | { readonly do: 'reapply'; readonly binding: string }
  | { readonly do: 'switch'; readonly binding: string; readonly state: 'Enabled' | 'Disabled' }
  | { readonly do: 'scale'; readonly binding: string; readonly replicas: number }
  | { readonly do: 'rename'; readonly binding: string; readonly alias: string }
  /** Two bindings exchange their aliases almost at once. */
  | { readonly do: 'swap'; readonly binding: string; readonly other: string }
  | { readonly do: 'delete_binding'; readonly binding: string }
  | { readonly do: 'kill_leader'; readonly backAfterMs: number }
  | { readonly do: 'kill_standby'; readonly backAfterMs: number }
  | { readonly do: 'end_leader' }
  | { readonly do: 'die_at_write'; readonly write: number; readonly moment: 'before' | 'after' }
  | { readonly do: 'freeze_leader'; readonly forMs: number }
  | { readonly do: 'restart_gateway'; readonly gateway: number; readonly backAfterMs: number }
  | { readonly do: 'contradict'; readonly gateway: number; readonly forMs: number }
  | { readonly do: 'crash_pods'; readonly forMs: number }
  /** The detector of policies that call one does not answer. */
  | { readonly do: 'lose_provider'; readonly forMs: number }
  | { readonly do: 'slow_pods'; readonly withinMs: number }
  | { readonly do: 'outage'; readonly forMs: number }
  | { readonly do: 'storm'; readonly loss: number; readonly refusals: number; readonly slow: number }
  | { readonly do: 'calm' }
  | { readonly do: 'silent_watches'; readonly share: number }
  | { readonly do: 'cut_watches' }
  | { readonly do: 'forget_history' }
  | { readonly do: 'remove_bundles' }
  | { readonly do: 'pause'; readonly ms: number };

export const policyNames = ['guard', 'other'] as const;
export const bindings = ['chat', 'mail', 'news'] as const;
export const aliases = ['chat', 'mail', 'news', 'shared'] as const;

type ActOf<D extends Act['do']> = Extract<Act, { do: D }>;

function act<D extends Act['do']>(
  name: D,
  rest: { readonly [K in keyof Omit<ActOf<D>, 'do'>]: fc.Arbitrary<ActOf<D>[K & keyof ActOf<D>]> },
  weight = 1,
): { readonly weight: number; readonly arbitrary: fc.Arbitrary<Act> } {
  return { weight, arbitrary: fc.record({ do: fc.constant(name), ...rest }) as unknown as fc.Arbitrary<Act> };
}

const policy = fc.constantFrom(...policyNames);
const binding = fc.constantFrom(...bindings);
const gateway = fc.integer({ min: 0, max: 1 });
const share = fc.constantFrom(0, 0.02, 0.1, 0.3);
/** Mostly short pauses, sometimes longer than a lease. */
const someMs = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 400 }) },
  { weight: 3, arbitrary: fc.integer({ min: 400, max: 5_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 5_000, max: 40_000 }) },
);
const revision = fc.integer({ min: 1, max: 4 });

export const anyAct: fc.Arbitrary<Act> = fc.oneof(
  act('save_policy', { policy, term: fc.constantFrom('one', 'two', 'three', asking, uncompilable) }, 4),
  act('archive_policy', { policy, archived: fc.boolean() }),
  act('delete_policy', { policy }),
  act('apply', { binding, policy, revision }, 6),
  act('back_and_forth', { binding, revision, newTokens: fc.boolean() }, 3),
  act('unguard', { binding }, 2),
  act('reapply', { binding }, 2),
  act('switch', { binding, state: fc.constantFrom('Enabled', 'Disabled') }),
  act('scale', { binding, replicas: fc.integer({ min: 1, max: 3 }) }),
  act('rename', { binding, alias: fc.constantFrom(...aliases) }),
  act('swap', { binding, other: binding }, 2),
  act('delete_binding', { binding }, 2),
  act('kill_leader', { backAfterMs: someMs }, 2),
  act('kill_standby', { backAfterMs: someMs }),
  act('end_leader', {}),
  act('die_at_write', { write: fc.integer({ min: 1, max: 12 }), moment: fc.constantFrom('before', 'after') }, 3),
  act('freeze_leader', { forMs: someMs }, 3),
  act('restart_gateway', { gateway, backAfterMs: someMs }, 2),
  act('contradict', { gateway, forMs: someMs }, 2),
  act('crash_pods', { forMs: someMs }),
  act('lose_provider', { forMs: someMs }, 2),
  act('slow_pods', { withinMs: fc.constantFrom(500, 1_500, 20_000) }),
  act('outage', { forMs: someMs }, 2),
  act('storm', { loss: share, refusals: share, slow: share }, 2),
  act('calm', {}),
  act('silent_watches', { share }),
  act('cut_watches', {}, 2),
  act('forget_history', {}),
  act('remove_bundles', {}),
  act('pause', { ms: someMs }, 10),
);
