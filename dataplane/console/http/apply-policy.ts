import { type BindingRead, bindingReadSchema, policyDetailSchema } from '#contracts/management';
import { currentProfile } from '#contracts/profiles';
import { runPolicyCommand } from '../clients/commands.ts';
import { applicationMark, changedModelPage, markNameOf } from '../pages/apply-form.ts';
import { failureNotice } from '../pages/notice.ts';
import { overviewPathOf } from '../pages/overview.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import type { ConsoleContext } from './environment.ts';
import { readForm } from './read-form.ts';

/**
 * Applies a revision to a model; the overview shows the replicas that confirm it. The command is valid only for the
 * application that the page showed: if another application was made meanwhile, it is shown and the person is asked
 * again.
 */
export async function applyPolicy(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const api = context.get('management');
  const form = await readForm(context);
  const { model = '', revision = '' } = form;
  const policyId = context.req.param('id') ?? '';
  const path = `/api/v1/models/${encodeURIComponent(model)}/guardrail-binding`;
  const binding = await api.call(path, bindingReadSchema);
  if (binding.kind !== 'value') return answerRefusal(context, page.words.policies, binding);
  if (form[markNameOf(model)] !== applicationMark(applicationOf(binding.value)))
    return answerChanged(context, { policyId, revision, now: binding.value });
  const body = { policyId, policyRevision: Number(revision), contentProfile: currentProfile };
  const answer = await runPolicyCommand(api, path, { method: 'PUT', body, etag: binding.etag });
  if (answer.kind === 'refused' && answer.code === 'etag_mismatch') {
    const now = await api.call(path, bindingReadSchema);
    if (now.kind === 'value') return answerChanged(context, { policyId, revision, now: now.value });
  }
  if (answer.kind !== 'value') return answerRefusal(context, page.words.policies, answer);
  const { error } = answer.value;
  if (error !== null) {
    const { failedCommand: title } = page.words.policyPages;
    const main = failureNotice(page.words, { title, ...error });
    return answerPage(context, { title, main }, 422);
  }
  return context.redirect(await overviewOf(context, model), 303);
}

async function overviewOf(context: ConsoleContext, model: string): Promise<string> {
  const overview = await context.get('management').overview();
  return overviewPathOf(overview.kind === 'value' ? overview.value.models : [], model);
}

async function answerChanged(
  context: ConsoleContext,
  asked: { readonly policyId: string; readonly revision: string; readonly now: BindingRead },
): Promise<Response> {
  const now = applicationOf(asked.now);
  const presentId = now?.policyId ?? '';
  const present =
    presentId === ''
      ? undefined
      : await context.get('management').call(`/api/v1/guardrail-policies/${presentId}`, policyDetailSchema);
  const policyName = present?.kind === 'value' ? present.value.name : presentId;
  const shown = { ...asked, modelId: asked.now.modelId, now, policyName };
  return answerPage(context, changedModelPage(context.get('page'), shown), 409);
}

function applicationOf({ binding }: BindingRead) {
  return binding === null ? null : { policyId: binding.policyId, revision: binding.policyRevision };
}
