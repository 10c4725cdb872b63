import type { Command } from 'commander';
import {
  type Approval,
  type ApprovalRule,
  approvalRulesSchema,
  approvalSchema,
  approvalsSchema,
  changedApprovalRuleSchema,
} from '#contracts/approvals';
import { type AuditAuthor, auditAuthorName } from '#contracts/audit';
import { CliError } from '../errors/cli-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { sendRequest } from '../management/send-request.ts';
import { formatOf, type OutputOptions, withOutput, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';

type Options = ManagementCommandOptions & OutputOptions;
type RuleOptions = Options & { readonly policy?: string; readonly model?: string };

export function addApproval(program: Command): void {
  const approval = program
    .command('approval')
    .description('approve commands of other people, and set the policies and models that require approval');
  withOutput(withManagementOptions(approval.command('list')))
    .description('show commands that wait for an approval or have one')
    .action(list);
  withUnnamedOutput(withManagementOptions(approval.command('approve')))
    .description('approve a command of another person, who then repeats it')
    .argument('<id>', 'the id that the refused command and "approval list" show')
    .action(approve);
  withUnnamedOutput(withManagementOptions(approval.command('rules')))
    .description('show the policies and models that require approvals')
    .action(rules);
  withRule(approval.command('require')).description('require approvals from now on').action(changeWith('require'));
  withRule(approval.command('release')).description('stop requiring approvals').action(changeWith('release'));
}

function withRule(command: Command): Command {
  return withUnnamedOutput(withManagementOptions(command))
    .option('--policy <id>', 'of applications, unbinds and archivings of this policy')
    .option('--model <id>', 'of applications and unbinds of this model');
}

async function list(options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const { value } = await sendRequest(connection, { method: 'GET', path: '/api/v1/approvals' }, approvalsSchema);
  const text = (): string =>
    tableOf([['ID', 'COMMAND', 'TARGET', 'VERSION', 'ASKED BY', 'APPROVED BY', 'EXPIRES'], ...value.items.map(rowOf)]);
  writeNamed(formatOf(options), { value, names: value.items.map(({ id }) => id), text });
}

function rowOf({ id, kind, target, after, requester, approver, expiresAt }: Approval): readonly string[] {
  const version = after === null ? '-' : `${after.policyId ?? ''} ${after.revision ?? ''}`.trim();
  const by = approver === null ? '-' : nameOf(approver);
  return [id, kind, `${target.type} ${target.id}`, version, nameOf(requester), by, expiresAt];
}

function nameOf(author: AuditAuthor): string {
  return auditAuthorName(author) ?? 'unknown';
}

async function approve(id: string, options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const call = { method: 'POST', path: `/api/v1/approvals/${encodeURIComponent(id)}/approve` } as const;
  const { value } = await sendRequest(connection, call, approvalSchema);
  const { kind, requester, expiresAt } = value;
  writeResult(
    formatOf(options),
    value,
    () =>
      `The ${kind} of ${nameOf(requester)} is approved until ${expiresAt}: ${nameOf(requester)} repeats the command.`,
  );
}

async function rules(options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const call = { method: 'GET', path: '/api/v1/approval-rules' } as const;
  const { value } = await sendRequest(connection, call, approvalRulesSchema);
  writeResult(formatOf(options), value, () =>
    tableOf([['KIND', 'ID'], ...value.items.map((rule) => textOf(rule).split(' '))]),
  );
}

function changeWith(verb: 'require' | 'release') {
  return async (options: RuleOptions): Promise<void> => {
    const { policy, model } = options;
    if ((policy === undefined) === (model === undefined)) {
      throw new CliError('usage', 'Name either a policy with --policy or a model with --model, by its id.');
    }
    const rule: ApprovalRule = policy === undefined ? { modelId: model ?? '' } : { policyId: policy };
    const { connection } = openManagement(options);
    const call = { method: 'POST', path: `/api/v1/approval-rules/${verb}`, body: rule } as const;
    const { value } = await sendRequest(connection, call, changedApprovalRuleSchema);
    const now = verb === 'require' ? 'requires approvals' : 'no longer requires approvals';
    const before = value.changed ? '' : ' It was so before.';
    writeResult(formatOf(options), value, () => `The ${textOf(rule)} ${now}.${before}`);
  };
}

function textOf(rule: ApprovalRule): string {
  return 'policyId' in rule ? `policy ${rule.policyId}` : `model ${rule.modelId}`;
}
