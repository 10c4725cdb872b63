import { failure, success } from '#api/operation';
import { type Attempt, commandFingerprint, runIdempotent } from '#api/run-idempotent';
import { clientClassOf } from '#audit/client-class';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { JsonValue } from '#kit/json/parse-strict';
import { roleRight } from '../access/required-right.ts';
import type { CommandOrigin } from '../operations/command-origin.ts';
import { acceptedResource, type CommandRecord } from '../operations/command-record.ts';
import { executeCommand } from '../operations/execute-command.ts';
import type { NewCommand } from '../operations/ports.ts';
import { approvalRequired } from './approval-operations.ts';
import { deniedByServer, faults } from './faults.ts';
import { changeFrozen } from './freeze-operations.ts';
import type { ManagementError, ManagementRequest, ManagementResponse } from './management.ts';
import { readCommandNote } from './read-command-note.ts';
import { readOverride } from './read-override.ts';

/** The write of a command that passed every gate. */
export type PlannedCommand =
  | {
      readonly kind: 'planned';
      readonly command: Pick<NewCommand, 'kind' | 'target' | 'write' | 'approval' | 'saving'> &
        Pick<CommandOrigin, 'before' | 'after'>;
    }
  | ManagementError;

type CommandPlan = {
  readonly method: 'POST' | 'PUT';
  /** The path, with its ids in their stored form. */
  readonly path: string;
  /** The error when the resource is deleted before the write. */
  readonly gone: 'policy_not_found' | 'model_not_found';
  /** The gates after the replay: If-Match, strict body, business rules. `json` is undefined for a body that is not JSON. */
  readonly plan: (json: JsonValue | undefined, operationId: string, isRepeated: boolean) => Promise<PlannedCommand>;
};

/** Executes a command once per subject and Idempotency-Key (docs/design/commands.md). */
export function runCommand(request: ManagementRequest, spec: CommandPlan): Promise<ManagementResponse> {
  const { service, body, caller, idempotencyKey: key, traceId } = request;
  const { subject, author, groups } = caller;
  const { commands, turns, newId, duplicateWaitMs: waitMs } = service;
  const { store, clock } = commands;
  const fingerprint = commandFingerprint(spec.method, spec.path, body.digest);

  async function attempt(isRepeated = false): Promise<Attempt<ManagementErrorCode>> {
    const operationId = newId();
    const read = readCommandNote(subject, request.incoming.rawHeaders);
    if (read.kind === 'error') return { kind: 'refused', error: read };
    const override = readOverride(request.incoming.rawHeaders);
    if (override.kind === 'error') return { kind: 'refused', error: override };
    const { overridesFreeze } = override;
    if (overridesFreeze && !(await commands.rights.has(caller, roleRight('administer')))) {
      return { kind: 'refused', error: failure('permission_denied') };
    }
    const planned = await spec.plan(body.json, operationId, isRepeated);
    if (planned.kind === 'error') return { kind: 'refused', error: planned };
    const write = { ...planned.command.write, note: read.note };
    const { before, after, ...rest } = planned.command;
    const client = clientClassOf(request.incoming.socket.remoteAddress);
    const origin = { author, groups, client, before, after, message: read.note.message };
    const command = { ...rest, overridesFreeze, write, origin, subject, key, fingerprint, operationId, traceId };
    const executed = await executeCommand(commands, command);
    switch (executed.kind) {
      case 'accepted':
        return { kind: 'done', response: accepted(executed.record) };
      case 'unknown':
        return { kind: 'done', response: failure('resources_unavailable') };
      case 'refused':
        // Another client has used the name of the new resource: the command wrote nothing and is planned again.
        if (spec.method === 'POST' && executed.why === 'changed' && !isRepeated) return attempt(true);
        if (executed.why === 'denied') return { kind: 'refused', error: deniedByServer };
        return { kind: 'refused', error: failure(refusals[executed.why] ?? spec.gone) };
      case 'unapproved':
        return { kind: 'refused', error: approvalRequired(executed.approvalId) };
      case 'full':
        return { kind: 'refused', error: failure(executed.code) };
      case 'frozen':
        return { kind: 'refused', error: changeFrozen(executed.until) };
      case 'taken':
        return { kind: 'taken' };
    }
  }

  async function findHolder() {
    const holder = await store.findKey(subject, key);
    if (holder === undefined) return undefined;
    const { record } = holder;
    return { fingerprint: holder.fingerprint, response: record.accepted ? accepted(record) : undefined };
  }

  return runIdempotent(
    { fingerprint, findHolder, attempt: () => turns.run(subject, () => attempt()) },
    { clock, waitMs, faults },
  );
}

const refusals = {
  changed: 'etag_mismatch',
  invalid: 'invalid_body',
  no_right: 'permission_denied',
  gone: undefined,
} as const;

/** The response body is the same for every repetition of a command. */
function accepted(record: CommandRecord) {
  const location = `/api/v1/operations/${record.operationId}`;
  return { ...success(acceptedResource(record), { location }), status: 202 };
}
