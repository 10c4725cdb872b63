import { v7 as uuid } from 'uuid';
import type { PolicyDetail } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { bindingObject, definitionOf } from '../../operator/testing/objects.ts';
import type { HttpResponse } from './call-api.ts';
import type { RunningManagement } from './start-management.ts';

/** A valid command of one kind. */
export type Command = {
  readonly name: 'post' | 'put' | 'binding';
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly etag?: string;
};

const policies = '/api/v1/guardrail-policies';

/** The object name of a policy. @throws Error if no policy has this id */
export async function policyNameOf(client: Pick<KubeClient, 'list'>, policyId: string): Promise<string> {
  const { items } = await client.list(kinds.guardrailPolicy, { labelSelector: `${idLabel}=${policyId}` });
  const [found] = items;
  if (found === undefined) throw new Error(`there is no policy with the id ${policyId}`);
  return found.metadata.name;
}

/** The recorded versions of a policy, oldest first. */
export async function revisionsOf(client: KubeClient, policyId: string): Promise<readonly Stored<PolicyRevision>[]> {
  const labelSelector = `portcullis.dev/policy-id=${policyId}`;
  const { items } = await listAll<PolicyRevision>(client, kinds.policyRevision, { labelSelector });
  return items.toSorted((a, b) => a.spec.number - b.spec.number);
}

/** Actions of tests through the API, independent of its resource server. */
export function actions(api: RunningManagement, client: KubeClient) {
  async function readPolicy(id: string) {
    const answer = await api.call(`${policies}/${id}`);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return { policy: answer.json as PolicyDetail, etag: String(answer.headers['etag']) };
  }

  async function createPolicy(name = 'guard', definition: Definition = definitionOf('portal')) {
    const operation = await api.ended(await api.command('POST', policies, { name, definition }));
    if (operation.state !== 'succeeded') throw new Error(JSON.stringify(operation));
    const { id } = operation.target;
    return { id, etag: (await readPolicy(id)).etag };
  }

  async function savePolicy(id: string, change: Readonly<Record<string, unknown>> = {}) {
    const { policy, etag } = await readPolicy(id);
    const { name, description, status, definition } = policy;
    const body = { name, description, status, definition, ...change };
    const operation = await api.ended(await api.command('PUT', `${policies}/${id}`, body, { etag }));
    if (operation.state !== 'succeeded') throw new Error(JSON.stringify(operation));
    return Number((operation.result as { readonly revision: number }).revision);
  }

  const bindingPath = (modelId: string): string => `/api/v1/models/${modelId}/guardrail-binding`;
  const readBinding = (modelId: string): Promise<HttpResponse> => api.call(bindingPath(modelId));

  async function apply(
    modelId: string,
    policyId: string | null,
    policyRevision: number | null,
    contentProfile: string = currentProfile,
  ) {
    const { headers } = await readBinding(modelId);
    const body = { policyId, policyRevision, contentProfile };
    return api.command('PUT', bindingPath(modelId), body, { etag: String(headers['etag']) });
  }

  async function applied(modelId: string, policyId: string | null, policyRevision: number | null) {
    const operation = await api.ended(await apply(modelId, policyId, policyRevision));
    if (operation.state !== 'succeeded') throw new Error(JSON.stringify(operation));
    const wanted = policyId === null ? 'unbound' : 'applied';
    return untilState(modelId, wanted);
  }

  /** Waits until a binding reads a state. */
  const untilState = (modelId: string, wanted: string): Promise<HttpResponse> =>
    until(`the model is ${wanted}`, async () => {
      const answer = await readBinding(modelId);
      if (answer.json.state !== wanted) throw new Error(answer.text);
      return answer;
    });

  /** One command of each kind that an administrator may send: POST and PUT of a policy, and PUT of a binding. */
  async function commandsOn(policyId: string, modelId: string): Promise<readonly [Command, Command, Command]> {
    const { policy, etag } = await readPolicy(policyId);
    const { name, description, definition, status } = policy;
    const put = { name: 'put', method: 'PUT', path: `${policies}/${policyId}`, etag } as const;
    const model = await readBinding(modelId);
    return [
      { name: 'post', method: 'POST', path: policies, body: { name: 'made', definition: definitionOf('a') } },
      { ...put, body: { name, description, definition, status } },
      {
        name: 'binding',
        method: 'PUT',
        path: bindingPath(modelId),
        etag: String(model.headers['etag']),
        body: { policyId, policyRevision: 1, contentProfile: currentProfile },
      },
    ];
  }

  /** The resources that commands can change. */
  async function objects() {
    const changed = [kinds.guardrailPolicy, kinds.policyRevision, kinds.modelBinding];
    const lists = await Promise.all(changed.map((kind) => client.list(kind)));
    return lists.flatMap(({ items }) => items.map(({ metadata, spec }) => [metadata.uid, metadata.generation, spec]));
  }

  async function binding(name: string): Promise<Stored<ModelBinding>> {
    const found = await client.get<ModelBinding>(kinds.modelBinding, name);
    if (found === undefined) throw new Error(`there is no binding ${name}`);
    return found;
  }

  async function createModel(name: string, change: Partial<ModelBindingSpec> = {}): Promise<string> {
    const object = bindingObject(name, { guardrail: { mode: 'None' }, ...change });
    const id = uuid();
    await client.create(kinds.modelBinding, { ...object, metadata: { name, labels: { [idLabel]: id } } });
    return id;
  }

  return {
    readPolicy,
    createPolicy,
    savePolicy,
    readBinding,
    untilState,
    apply,
    applied,
    binding,
    createModel,
    commandsOn,
    objects,
  };
}
