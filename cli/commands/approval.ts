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
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { orAbsent } from '../management/management-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { sendRequest } from '../management/send-request.ts';
import { type NameOfTarget, shownTargetNames, targetIdOf } from '../management/target-names.ts';
import { confirmOnTerminal } from '../options/confirm-on-terminal.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { formatOf, type OutputOptions, withOutput, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { writeNamed } from '../output/write-named.ts';

type Options = ManagementCommandOptions & OutputOptions;
type RuleOptions = Options & ConfirmOption & { readonly policy?: string; readonly model?: string };

export function addApproval(program: Command): void {
  const approval = program
    .command('approval')
    .description(
      'approve commands of other people over the management API (--via api), and set the policies and models that require approval',
    );
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
  withRule(approval.command('require'))
    .description('require approvals from now on, for commands with --via api')
    .action(changeWith('require'));
  withConfirm(withRule(approval.command('release')))
    .description('stop requiring approvals; asks first at a terminal')
    .action(changeWith('release'));
}

function withRule(command: Command): Command {
  return withUnnamedOutput(withManagementOptions(command))
    .option('--policy <policy>', 'name of a policy: for applications, unbinds and archivings of this policy')
    .option('--model <model>', 'name or alias of a model: for applications and unbinds of this model');
}

async function list(options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const { value } = await sendRequest(connection, { method: 'GET', path: '/api/v1/approvals' }, approvalsSchema);
  const nameOf = await shownTargetNames(
    connection,
    formatOf(options),
    value.items.map(({ target }) => target),
  );
  const head = ['ID', 'COMMAND', 'TARGET', 'VERSION', 'ASKED BY', 'APPROVED BY', 'EXPIRES'];
  const text = (isWide: boolean): string =>
    tableOf([
      isWide ? [...head, 'TARGET ID'] : head,
      ...value.items.map((one) => (isWide ? [...rowOf(one, nameOf), one.target.id] : rowOf(one, nameOf))),
    ]);
  writeNamed(formatOf(options), { value, names: value.items.map(({ id }) => id), text });
}

function rowOf(approval: Approval, nameOf: NameOfTarget): readonly string[] {
  const { id, kind, target, after, requester, approver, expiresAt } = approval;
  const policy = after?.policyId;
  const version = [typeof policy === 'string' ? nameOf('policy', policy) : '', after?.revision ?? ''].join(' ').trim();
  const object = `${target.type} ${nameOf(target.type, target.id)}`;
  return [
    id,
    kind,
    object,
    version || '-',
    personOf(requester),
    approver === null ? '-' : personOf(approver),
    expiresAt,
  ];
}

function personOf(author: AuditAuthor): string {
  return auditAuthorName(author) ?? 'unknown';
}

async function approve(id: string, options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const call = { method: 'POST', path: `/api/v1/approvals/${encodeURIComponent(id)}/approve` } as const;
  const { value } = await sendRequest(connection, call, approvalSchema).catch(
    orAbsent(
      `No command waits for an approval with the id ${id}: it never did, its time ended, or it was repeated. ${typedCommand('approval list')} shows those that wait.`,
    ),
  );
  const { kind, requester, expiresAt } = value;
  writeResult(
    formatOf(options),
    value,
    () =>
      `The ${kind} of ${personOf(requester)} is approved until ${expiresAt}. ${personOf(requester)} can now repeat the command.`,
  );
}

async function rules(options: Options): Promise<void> {
  const { connection } = openManagement(options);
  const call = { method: 'GET', path: '/api/v1/approval-rules' } as const;
  const { value } = await sendRequest(connection, call, approvalRulesSchema);
  const targets = value.items.map(targetOf);
  const nameOf = await shownTargetNames(
    connection,
    formatOf(options),
    targets.map(([type, id]) => ({ type, id })),
  );
  writeResult(formatOf(options), value, (isWide) =>
    tableOf([
      isWide ? ['KIND', 'NAME', 'ID'] : ['KIND', 'NAME'],
      ...targets.map(([type, id]) => {
        const row = [type, nameOf(type, id)];
        return isWide ? [...row, id] : row;
      }),
    ]),
  );
}

function changeWith(verb: 'require' | 'release') {
  return async (options: RuleOptions): Promise<void> => {
    const { policy, model } = options;
    if ((policy === undefined) === (model === undefined)) {
      throw new CliError('usage', `"approval ${verb}" needs exactly one target: --policy NAME or --model NAME.`);
    }
    const { connection } = openManagement(options);
    const rule: ApprovalRule =
      policy === undefined
        ? { modelId: await targetIdOf(connection, 'model', model ?? '') }
        : { policyId: await targetIdOf(connection, 'policy', policy) };
    if (verb === 'release') {
      const released = policy === undefined ? `model ${model}` : `policy ${policy}`;
      await confirmOnTerminal(
        [`Changes of the ${released} would no longer need the approval of a second person.`],
        options,
      );
    }
    const call = { method: 'POST', path: `/api/v1/approval-rules/${verb}`, body: rule } as const;
    const { value } = await sendRequest(connection, call, changedApprovalRuleSchema);
    const now = verb === 'require' ? 'requires approvals for commands with --via api' : 'no longer requires approvals';
    const before = value.changed ? '' : ' This was already the case.';
    const [type, id] = targetOf(rule);
    const nameOf = await shownTargetNames(connection, formatOf(options), [{ type, id }]);
    writeResult(formatOf(options), value, () => `The ${type} ${nameOf(type, id)} ${now}.${before}`);
  };
}

function targetOf(rule: ApprovalRule): readonly [type: string, id: string] {
  return 'policyId' in rule ? ['policy', rule.policyId] : ['model', rule.modelId];
}
