import type { PolicyDetail } from '#contracts/management';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf, revisionsOf } from './actions.ts';
import { untilAnswered } from './call-api.ts';
import type { BusyWorld } from './open-busy-world.ts';
import { newKey } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

/** Sends identical commands concurrently to two replicas. @returns the numbers of effects and of different answers */
export async function sendIdentical(world: BusyWorld, count: number) {
  const body = { name: 'identical', definition: definitionOf('identical') };
  const key = newKey();
  const answers = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      untilAnswered(() => world.api.command('POST', list, body, { key, replica: at % 2 })),
    ),
  );
  const { items } = await listAll<GuardrailPolicy>(world.client, kinds.guardrailPolicy);
  return {
    answers: new Set(answers.map(({ status, text }) => `${status} ${text}`)).size,
    accepted: answers.filter(({ status }) => status === 202).length,
    effects: items.filter(({ spec }) => spec.displayName === 'identical').length,
  };
}

type PutReport = {
  readonly puts: number;
  readonly accepted: number;
  readonly edits: number;
  readonly revisions: number;
  /** Violations, one sentence each. */
  readonly faults: readonly string[];
};

/**
 * Sends PUTs with If-Match for one policy from several clients, concurrently with edits of the object without an ETag.
 */
export async function putConcurrently(
  world: BusyWorld,
  options: { readonly puts: number; readonly workers: number; readonly random: () => number },
): Promise<PutReport> {
  const { id } = await world.act.createPolicy('contended');
  const path = `${list}/${id}`;
  const winners = new Map<string, number>();
  const accepted: { readonly marker: string; readonly operationId: string }[] = [];
  const faults: string[] = [];
  let sent = 0;
  let edits = 0;

  async function work(worker: number): Promise<void> {
    while (sent < options.puts) {
      const number = sent++;
      if (options.random() < 0.1) {
        await world.edit(await policyNameOf(world.client, id), `edit ${number}`, edits++ % 2 === 0 ? 'patch' : 'apply');
      }
      const read = await untilAnswered(() => world.api.call(path, { replica: worker % 2 }));
      if (read.status !== 200) {
        faults.push(`GET ${read.status} ${read.text.slice(0, 120)}`);
        continue;
      }
      const { name, status, definition } = read.json as PolicyDetail;
      const etag = String(read.headers['etag']);
      const marker = `put ${number}`;
      const body = { name, status, definition, description: marker };
      const repeatable = { key: newKey(), etag, replica: (worker + number) % 2 };
      const answer = await untilAnswered(() => world.api.command('PUT', path, body, repeatable));
      if (answer.status === 202) {
        winners.set(etag, (winners.get(etag) ?? 0) + 1);
        accepted.push({ marker, operationId: answer.json.operationId });
      } else if (answer.status !== 412) {
        faults.push(`PUT ${answer.status} ${answer.text.slice(0, 120)}`);
      }
    }
  }

  await Promise.all(Array.from({ length: options.workers }, (_, worker) => work(worker)));
  for (const [etag, count] of winners) if (count > 1) faults.push(`${count} PUTs passed with ${etag}`);
  const recorded = await revisionsOf(world.client, id);
  const numbers = recorded.map(({ spec }) => spec.number).toSorted((a, b) => a - b);
  if (numbers.some((number, at) => number !== at + 1)) faults.push('the history has a gap');
  faults.push(...overwrittenUnseen(recorded));
  for (const { marker, operationId } of accepted) {
    const operation = await world.api.endOf(operationId);
    const own = recorded.filter(({ spec }) => spec.description === marker);
    const result = operation.result as { readonly revision?: number } | null;
    if (operation.state !== 'succeeded' || own.length !== 1 || own[0]?.spec.number !== result?.revision) {
      faults.push(`${marker}: ${operation.state}, ${own.length} revisions`);
    }
  }
  return { puts: sent, accepted: accepted.length, edits, revisions: recorded.length, faults };
}

/** A manual edit may replace another manual edit only before the earlier one was recorded. */
function overwrittenUnseen(recorded: Awaited<ReturnType<typeof revisionsOf>>): readonly string[] {
  const generations = new Set(recorded.map(({ spec }) => spec.policy.generation));
  return recorded.flatMap(({ spec: { token, policy } }) => {
    const isOwn = token.endsWith(`/${policy.generation}`);
    const isFirst = policy.generation === 1;
    return isOwn && !isFirst && !generations.has(policy.generation - 1)
      ? [`the generation that generation ${policy.generation} replaced is not a revision`]
      : [];
  });
}
