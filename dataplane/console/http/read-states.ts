import { html } from 'hono/html';
import { bindingReadSchema, type OperationResource, operationSchema } from '#contracts/management';
import type { ApiAnswer } from '../clients/call-api.ts';
import { isPassing } from '../clients/is-passing.ts';
import type { ManagementApi } from '../clients/management-api.ts';
import { refusalNotice } from '../pages/notice.ts';
import { outOfBand } from '../pages/operation-polling.ts';
import { type ConfirmedReplicas, isOpenOperation, operationState } from '../pages/operations.ts';
import type { Markup } from '../pages/page.ts';
import type { Words } from '../words/en.ts';

type ReadStates = {
  /**
   * Parts of the page that replace those of the operations; an operation whose state the service could not report has
   * no part.
   */
  readonly parts: readonly (Markup | Promise<Markup>)[];
  /** Ids of the operations that are requested again. */
  readonly open: readonly string[];
  /** Whether the service could not report the state of one of the operations now. */
  readonly isSlow: boolean;
};

/** Maximum number of concurrent requests of one page. */
const atOnce = 8;

/**
 * Reads operations one by one: reading one operation costs a tenth of reading the list, and the object of an operation
 * costs as much again.
 */
export async function readStates(api: ManagementApi, words: Words, ids: readonly string[]): Promise<ReadStates> {
  const parts: (Markup | Promise<Markup>)[] = [];
  const open: string[] = [];
  let isSlow = false;
  const bindings = readOnce(api);
  for (let from = 0; from < ids.length; from += atOnce) {
    const asked = ids.slice(from, from + atOnce);
    const answers = await Promise.all(
      asked.map(async (id) => {
        const answer = await api.call(`/api/v1/operations/${id}`, operationSchema);
        return { id, answer, progress: answer.kind === 'value' ? await bindings.progressOf(answer.value) : undefined };
      }),
    );
    for (const { id, answer, progress } of answers) {
      const isLeft = isPassing(answer) || progress === 'later';
      if (isLeft || (answer.kind === 'value' && isOpenOperation(answer.value))) open.push(id);
      if (isLeft) isSlow = true;
      else if (answer.kind === 'value') parts.push(operationState(words, answer.value, { progress }));
      else parts.push(html`<div id="state-${id}" ${outOfBand}>${refusalNotice(words, answer)}</div>`);
    }
  }
  return { parts, open, isSlow };
}

/** The replicas that confirmed an application. The binding of a model is read once, however many operations it has. */
function readOnce(api: ManagementApi) {
  type Binding = ApiAnswer<ReturnType<typeof bindingReadSchema.parse>>;
  const read = new Map<string, Promise<Binding>>();
  const bindingOf = (modelId: string): Promise<Binding> => {
    const found = read.get(modelId) ?? api.call(`/api/v1/models/${modelId}/guardrail-binding`, bindingReadSchema);
    read.set(modelId, found);
    return found;
  };
  return {
    /**
     * The number of replicas that confirmed an operation; undefined if the operation needs no confirmation of replicas,
     * or the person may not read the model.
     */
    async progressOf({
      operationId,
      state,
      target,
    }: OperationResource): Promise<ConfirmedReplicas | 'later' | undefined> {
      if (state !== 'running' || target.type !== 'model') return undefined;
      const binding = await bindingOf(target.id);
      if (isPassing(binding)) return 'later';
      // Another command may have replaced the application of this command.
      return binding.kind === 'value' && binding.value.operationId === operationId
        ? binding.value.observation
        : undefined;
    },
  };
}
