import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { parse } from 'yaml';
import type { Approval } from '#contracts/approvals';
import type { ListedOperation } from '#contracts/operations';
import { currentProfile } from '#contracts/profiles';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import { idLabel, kinds } from '#resources/kinds';
import { agentIdOf } from '../../operator/agents/agent-bundle.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import type { HttpResponse } from './call-api.ts';
import type { ManagementWorld } from './open-management-world.ts';
import type { MatrixCase } from './route-matrix.ts';
import { issuer, newKey } from './start-management.ts';

type Ids = { readonly own: string; readonly other: string; readonly unknown: string };
type Sender = { readonly token: string | null; readonly operationId: string; readonly replica: number };

/** The calls of the matrix, and the objects that they name. */
export type MatrixCalls = {
  readonly targets: { readonly policy: Ids; readonly model: Ids };
  /** Creates the request or window that the call acts on, unless it exists. */
  prepare(one: MatrixCase): Promise<void>;
  /** Records that the call took effect, so that the next call needs a new request or window. */
  use(one: MatrixCase): void;
  /** Makes a call. `listed` states whether the answer of a list contains the object that the case names. */
  call(one: MatrixCase, sender: Sender): Promise<{ readonly answer: HttpResponse; readonly listed?: string }>;
  /** Everything that a call can change. */
  state(): Promise<unknown>;
};

const policies = '/api/v1/guardrail-policies';
const day = 86_400_000;
const samples = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'valid');
const sampleOf = <T>(name: string): T => parse(readFileSync(join(samples, `${name}.yaml`), 'utf8')) as T;

export async function openMatrixCalls(world: ManagementWorld): Promise<MatrixCalls> {
  const { api, client } = world;
  const policy = { own: await savedPolicy(world, 'own'), other: await savedPolicy(world, 'other'), unknown: uuid() };
  const applied = (await world.createPolicy('applied', definitionOf('applied'))).id;
  const model = { own: await world.createModel('own'), other: await world.createModel('other'), unknown: uuid() };
  const targets = { policy, model };
  const sample = sampleOf<Agent>('agent-small');
  const sampleVersion = sampleOf<AgentVersion>('agent-version-small');
  const version = await client.create(kinds.agentVersion, {
    ...sampleVersion,
    spec: { ...sampleVersion.spec, agent: sample.metadata.name },
  });
  const spec = { ...sample.spec, version: version.metadata.name };
  const agent = await client.create(kinds.agent, { ...sample, spec });
  const ofAdministrator = await api.command('POST', policies, { name: 'of-root', definition: definitionOf('x') });
  await api.ended(ofAdministrator);

  const idOf = ({ type, target }: MatrixCase): string => {
    const ids: Partial<Record<string, string>> = type === 'policy' || type === 'model' ? targets[type] : {};
    return ids[target] ?? '';
  };
  const bodyOfTarget = (one: MatrixCase): object => (one.type === undefined ? {} : { [`${one.type}Id`]: idOf(one) });
  const administrate = async (path: string, body: unknown): Promise<HttpResponse> => {
    const answer = await api.call(path, { method: 'POST', body });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer;
  };

  let asked = 0;
  /** A command of the administrator that needs the approval of another person. @returns the id of the request */
  async function askApproval(one: MatrixCase): Promise<string> {
    const id = idOf(one);
    await administrate('/api/v1/approval-rules/require', bodyOfTarget(one));
    const refused =
      one.type === 'policy'
        ? await archive(id, `archive ${++asked}`)
        : await world.apply(id, applied, 1, `profile-${++asked}`);
    await administrate('/api/v1/approval-rules/release', bodyOfTarget(one));
    if (refused.json.error?.code !== 'approval_required') throw new Error(refused.text);
    return String(refused.json.error.details[0].path).replace('/approvals/', '');
  }
  async function archive(id: string, description: string): Promise<HttpResponse> {
    const { policy: saved, etag } = await world.readPolicy(id);
    const { name, definition } = saved;
    return api.command('PUT', `${policies}/${id}`, { name, description, status: 'archived', definition }, { etag });
  }
  async function setFreeze(one: MatrixCase): Promise<string> {
    const answer = await administrate('/api/v1/freezes', { ...bodyOfTarget(one), ...laterWindow() });
    return answer.json.id;
  }

  const made = new Map<string, string>();
  const keyOf = ({ operation, type, target }: MatrixCase): string => `${operation}/${type}/${target}`;
  const makers: Partial<Record<MatrixCase['operation'], (one: MatrixCase) => Promise<string>>> = {
    listApprovals: askApproval,
    approveCommand: askApproval,
    removeFreeze: setFreeze,
  };

  async function pathOf(one: MatrixCase, sender: Sender): Promise<string> {
    const { operation, target, template, type } = one;
    const operationId =
      target === 'own' ? sender.operationId : target === 'other' ? String(ofAdministrator.json.operationId) : uuid();
    const isKnown = target === 'known';
    const request = made.get(keyOf(one)) ?? uuid();
    const name = operation === 'getResource' && target !== 'unknown' ? await resourceName(type, idOf(one)) : 'unknown';
    const values: Readonly<Record<string, string>> = {
      policyId: policy.own,
      modelId: model.own,
      [`${type}Id`]: idOf(one),
      // The first version is removed; the later versions are read.
      revision: operation === 'purgeRevision' ? '1' : '3',
      operationId,
      approvalId: request,
      freezeId: request,
      agentId: isKnown ? agentIdOf(client.namespace, agent.metadata.name) : uuid(),
      versionId: version.metadata.uid,
      plural: type === 'model' ? kinds.modelBinding.plural : kinds.guardrailPolicy.plural,
      name,
    };
    const path = template.replace(/\{(\w+)\}/g, (_all, parameter: string) => values[parameter] ?? '');
    const queries: Partial<Record<MatrixCase['operation'], string>> = {
      listOperations: `?operationId=${operationId}`,
      testProvider: '?alias=own',
      getRevisionDiff: '?from=2&to=3',
    };
    return `${path}${queries[operation] ?? ''}`;
  }
  async function resourceName(type: MatrixCase['type'], id: string): Promise<string> {
    if (type === 'policy') return policyNameOf(client, id);
    const { items } = await client.list(kinds.modelBinding, { labelSelector: `${idLabel}=${id}` });
    return items[0]?.metadata.name ?? '';
  }

  async function bodyOf(one: MatrixCase): Promise<unknown> {
    switch (one.operation) {
      case 'createPolicy':
      case 'dryRunCreatePolicy':
        return { name: `made-${uuid()}`, definition: definitionOf('x') };
      case 'replacePolicy':
      case 'dryRunReplacePolicy':
        return { name: 'saved', description: '', status: 'draft', definition: definitionOf('x') };
      case 'replaceBinding':
      case 'dryRunReplaceBinding':
        return { policyId: applied, policyRevision: 1, contentProfile: currentProfile };
      case 'checkPolicy':
        return { definition: definitionOf('x'), checks: [] };
      case 'grantRight':
      case 'revokeRight':
        return { role: 'viewer', holder: { issuer, subject: 'changed-by-the-matrix' }, ...bodyOfTarget(one) };
      case 'requireApproval':
      case 'releaseApproval':
        return bodyOfTarget(one);
      case 'setFreeze':
        return { ...bodyOfTarget(one), ...laterWindow() };
      default:
        return undefined;
    }
  }

  async function etagOf({ type, target }: MatrixCase): Promise<string> {
    if (target === 'unknown' || !(type === 'policy' || type === 'model')) return '"none"';
    const id = targets[type][target === 'own' ? 'own' : 'other'];
    if (type === 'policy') return (await world.readPolicy(id)).etag;
    return String((await world.readBinding(id)).headers['etag']);
  }

  return {
    targets,
    async prepare(one) {
      const make = one.target === 'unknown' ? undefined : makers[one.operation];
      if (make !== undefined && !made.has(keyOf(one))) made.set(keyOf(one), await make(one));
    },
    use(one) {
      if (one.operation !== 'listApprovals') made.delete(keyOf(one));
    },
    async call(one, sender) {
      const path = await pathOf(one, sender);
      const headers: Record<string, string> = one.method === 'PUT' ? { 'if-match': await etagOf(one) } : {};
      if (one.method === 'PUT' || one.operation === 'createPolicy') headers['idempotency-key'] = newKey();
      const { token, replica } = sender;
      const answer = await api.call(path, { method: one.method, body: await bodyOf(one), headers, token, replica });
      if (answer.status === 202) await api.ended(answer);
      if (answer.status !== 200) return { answer };
      return { answer, ...listedIn(one, answer, made.get(keyOf(one)) ?? path.split('=')[1]) };
    },
    async state() {
      const { sql } = api.database.database;
      const rows = await Promise.all([
        sql`select object, relation, subject from relations.tuples order by 1, 2, 3`,
        sql`select target_type, target_id from management.approval_rules order by 1, 2`,
        sql`select approval_id, approver from management.approvals order by 1`,
        sql`select freeze_id from management.freezes order by 1`,
        sql`select operation_id from management.operations order by 1`,
      ]);
      return [await world.objects(), rows.map((list) => list.map((row) => Object.values(row)))];
    },
  };
}

/** Whether the list contains the request or the operation with this id. */
function listedIn(one: MatrixCase, { json }: HttpResponse, id: string | undefined): { readonly listed?: string } {
  if (one.operation === 'listApprovals') {
    return { listed: json.items.some((item: Approval) => item.id === id) ? ' shown' : ' hidden' };
  }
  if (one.operation !== 'listOperations') return {};
  return { listed: json.items.some((item: ListedOperation) => item.operationId === id) ? ' shown' : ' hidden' };
}

/** Saves a policy with three versions, the first of which is not in use. */
async function savedPolicy(world: ManagementWorld, name: string): Promise<string> {
  const { id } = await world.createPolicy(name, definitionOf(name));
  await world.savePolicy(id, { description: 'second' });
  await world.savePolicy(id, { description: 'third' });
  return id;
}

/** A window that begins after the test. */
function laterWindow(): { readonly startsAt: string; readonly endsAt: string } {
  const at = (days: number) => new Date(Date.now() + days * day).toISOString();
  return { startsAt: at(30), endsAt: at(31) };
}
