import { v7 as uuid } from 'uuid';
import type { PolicyDetail } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import type { KubeClient } from '#kube/client/client';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import { bindingObject, definitionOf } from '../../operator/testing/objects.ts';
import { until } from '../support/until.ts';
import type { Answer } from './call-api.ts';
import type { RunningManagement } from './start-management.ts';

/** Actions of tests through the API, independent of the resource server behind it. */
export function actions(api: RunningManagement, client: KubeClient) {
  async function readPolicy(id: string) {
    const answer = await api.call(`/api/v1/guardrail-policies/${id}`);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return { policy: answer.json as PolicyDetail, etag: String(answer.headers['etag']) };
  }

  async function createPolicy(name = 'guard', definition: Definition = definitionOf('portal')) {
    const operation = await api.ended(await api.command('POST', '/api/v1/guardrail-policies', { name, definition }));
    if (operation.state !== 'succeeded') throw new Error(JSON.stringify(operation));
    const { id } = operation.target;
    return { id, etag: (await readPolicy(id)).etag };
  }

  async function savePolicy(id: string, change: Readonly<Record<string, unknown>> = {}) {
    const { policy, etag } = await readPolicy(id);
    const { name, description, status, definition } = policy;
    const body = { name, description, status, definition, ...change };
    const operation = await api.ended(await api.command('PUT', `/api/v1/guardrail-policies/${id}`, body, { etag }));
    if (operation.state !== 'succeeded') throw new Error(JSON.stringify(operation));
    return Number((operation.result as { readonly revision: number }).revision);
  }

  const bindingPath = (modelId: string): string => `/api/v1/models/${modelId}/guardrail-binding`;
  const readBinding = (modelId: string): Promise<Answer> => api.call(bindingPath(modelId));

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
    return until(`the model is ${wanted}`, async () => {
      const answer = await readBinding(modelId);
      return answer.json.state === wanted ? answer : undefined;
    });
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

  return { readPolicy, createPolicy, savePolicy, readBinding, apply, applied, binding, createModel };
}
