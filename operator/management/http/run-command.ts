import { setTimeout as pause } from 'node:timers/promises';
import { sha256Hex } from '#contracts/canonical';
import { managementLimits } from '#contracts/management';
import { headerValues } from '#kit/http/raw-headers';
import type { JsonValue } from '#kit/json/parse-strict';
import { executeCommand } from '../operations/execute-command.ts';
import { acceptedResource, type Operation } from '../operations/operation.ts';
import type { KeyHolder, NewCommand } from '../operations/ports.ts';
import type { Exchange } from './exchange.ts';
import { receiveBody } from './receive-body.ts';
import { type Refusal, type Reply, refuse } from './reply.ts';

/** A command whose every gate was passed: what is to be written. */
export type Planned =
  | { readonly kind: 'planned'; readonly command: Pick<NewCommand, 'kind' | 'target' | 'write'> }
  | Refusal;

export type CommandSpec = {
  /** What names the resource in the path; a refusal where an id is none. */
  readonly route: string | Refusal;
  /** What a command that finds its resource gone is told. */
  readonly gone: 'policy_not_found' | 'model_not_found';
  /** The gates behind the replay: If-Match, strict body, business rules. `json` is undefined where it is no JSON. */
  readonly plan: (json: JsonValue | undefined, operationId: string) => Promise<Planned>;
};

const { min, max } = managementLimits.idempotencyKey;
const keyForm = new RegExp(`^[A-Za-z0-9._~-]{${min},${max}}$`);

/**
 * The gates of a command in their order (research/agents.md, 6.2): path ids, media type and size, Idempotency-Key,
 * replay, then those of the plan, then the write. Who is refused behind the replay looks for the key once more: the
 * command may have been carried out by another request meanwhile, and what it did must not refuse its repetition.
 */
export async function runCommand(exchange: Exchange, spec: CommandSpec): Promise<Reply> {
  const { management, incoming, subject } = exchange;
  const { store } = management.commands;
  if (typeof spec.route !== 'string') return spec.route;
  const body = await receiveBody(incoming);
  if (!body.ok) return refuse(body.code);
  const keys = headerValues(incoming.rawHeaders, 'idempotency-key');
  if (keys.length === 0) return refuse('idempotency_key_missing');
  const key = keys[0] ?? '';
  if (keys.length > 1 || !keyForm.test(key)) return refuse('idempotency_key_invalid');
  const fingerprint = sha256Hex(`${spec.route}\n${body.digest}`);
  const identity = { subject, key, fingerprint };

  for (let attempt = 1; ; attempt++) {
    const holder = await store.findKey(subject, key);
    if (holder !== undefined) {
      const replayed = await replay(exchange, identity, holder);
      if (replayed !== undefined) return replayed;
    }
    const operationId = management.newId();
    const planned = await spec.plan(body.json, operationId);
    if (planned.kind === 'refusal') {
      if (attempt > maxAttempts || (await store.findKey(subject, key)) === undefined) return planned;
      continue;
    }
    const command = { ...planned.command, ...identity, operationId, traceId: exchange.traceId };
    const executed = await executeCommand(management.commands, command);
    switch (executed.kind) {
      case 'accepted':
        return accepted(executed.operation);
      case 'unknown':
        return refuse('resources_unavailable');
      case 'refused':
        if (attempt <= maxAttempts && (await store.findKey(subject, key)) !== undefined) continue;
        return refuse(refusals[executed.why] ?? spec.gone);
      case 'taken':
        if (attempt > maxAttempts) return refuse('idempotency_in_progress');
    }
  }
}

const maxAttempts = 3;
const refusals = {
  changed: 'etag_mismatch',
  invalid: 'invalid_body',
  denied: 'resources_unavailable',
  gone: undefined,
} as const;

type Identity = { readonly subject: string; readonly key: string; readonly fingerprint: string };

/** The answer of the command that holds the key; undefined where its key became free meanwhile. */
async function replay({ management }: Exchange, identity: Identity, first: KeyHolder): Promise<Reply | undefined> {
  const { store, clock } = management.commands;
  const giveUpAt = clock.now() + management.duplicateWaitMs;
  let holder: KeyHolder | undefined = first;
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 250)) {
    if (holder === undefined) return undefined;
    const { operation, fingerprint } = holder;
    if (operation.accepted) {
      return fingerprint === identity.fingerprint ? accepted(operation) : refuse('idempotency_key_reused');
    }
    if (clock.now() >= giveUpAt) return refuse('idempotency_in_progress');
    await pause(waitMs);
    holder = await store.findKey(identity.subject, identity.key);
  }
}

/** The same bytes for every repetition. */
function accepted(operation: Operation): Reply {
  return {
    kind: 'answer',
    status: 202,
    body: acceptedResource(operation),
    headers: { location: `/api/v1/operations/${operation.operationId}` },
  };
}
