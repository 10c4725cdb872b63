import { type Command, Option } from 'commander';
import { type ControlRight, changedRightSchema, controlRightsSchema, controlRoles } from '#contracts/rights';
import { CliError } from '../errors/cli-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { type ManagementConnection, sendRequest } from '../management/send-request.ts';
import { type NameOfTarget, shownTargetNames, targetIdOf } from '../management/target-names.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { tableOf } from '../output/write.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';

type ChangeOptions = ManagementCommandOptions &
  OutputOptions & {
    readonly issuer?: string;
    readonly group?: boolean;
    readonly role: (typeof controlRoles)[number];
    readonly policy?: string;
    readonly model?: string;
  };

export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('list, grant and revoke the roles of the management API');
  withUnnamedOutput(withManagementOptions(admin.command('list')))
    .description('show every right')
    .action(list);
  withChange(admin.command('grant')).description('grant a role').action(changeWith('grant'));
  withChange(admin.command('revoke'))
    .description('revoke a role; the right of the last administrator is kept')
    .action(changeWith('revoke'));
}

function withChange(command: Command): Command {
  return withUnnamedOutput(withManagementOptions(command))
    .argument('<subject>', 'claim sub of the user, or the name of a group with --group')
    .option('--issuer <url>', 'issuer of its tokens (default: the development issuer of this machine)')
    .option('--group', 'the subject is the name of a group in the tokens of the issuer')
    .addOption(new Option('--role <role>', 'which role').choices([...controlRoles]).default('administrator'))
    .option('--policy <policy>', 'limit the role (author or viewer) to one policy: name')
    .option('--model <model>', 'limit the role (applier or viewer) to one model: name or alias');
}

async function list(options: ManagementCommandOptions & OutputOptions): Promise<void> {
  const { connection } = openManagement(options);
  const call = { method: 'GET', path: '/api/v1/rights' } as const;
  const { value } = await sendRequest(connection, call, controlRightsSchema);
  const nameOf = await shownTargetNames(connection, formatOf(options), value.items.flatMap(targetsOf));
  const head = ['ROLE', 'KIND', 'NAME', 'ISSUER', 'SCOPE'];
  writeResult(formatOf(options), value, (isWide) =>
    tableOf([
      isWide ? [...head, 'SCOPE ID'] : head,
      ...value.items.map((one) =>
        isWide ? [...rowOf(one, nameOf), one.policyId ?? one.modelId ?? '-'] : rowOf(one, nameOf),
      ),
    ]),
  );
}

function rowOf({ role, holder, policyId, modelId }: ControlRight, nameOf: NameOfTarget): readonly string[] {
  const [kind, name] = 'subject' in holder ? ['user', holder.subject] : ['group', holder.group];
  const model = modelId === undefined ? 'all' : `model ${nameOf('model', modelId)}`;
  const scope = policyId === undefined ? model : `policy ${nameOf('policy', policyId)}`;
  return [role, kind, name, holder.issuer, scope];
}

function targetsOf({ policyId, modelId }: ControlRight) {
  return [
    ...(policyId === undefined ? [] : [{ type: 'policy', id: policyId }]),
    ...(modelId === undefined ? [] : [{ type: 'model', id: modelId }]),
  ];
}

function changeWith(verb: 'grant' | 'revoke') {
  return async (name: string, options: ChangeOptions): Promise<void> => {
    refuseScope(options);
    const holder = holderOf(name, options);
    const { connection } = openManagement(options);
    const right = { role: options.role, holder, ...(await scopeOf(connection, options)) };
    const call = { method: 'POST', path: `/api/v1/rights/${verb}`, body: right } as const;
    const { value } = await sendRequest(connection, call, changedRightSchema);
    const done = verb === 'grant' ? 'has' : 'no longer has';
    const before = value.changed ? '' : ' This was already the case.';
    writeResult(formatOf(options), value, (isWide) => {
      return `${name} ${done} the role ${right.role}${scopeText(options, right, isWide)}.${before}`;
    });
  };
}

/** The roles that can be limited to one object of a kind. */
const limited = { policy: ['author', 'viewer'], model: ['applier', 'viewer'] } as const;

/** @throws CliError usage for a role that cannot be limited in this way */
function refuseScope({ role, policy, model }: ChangeOptions): void {
  if (policy !== undefined && model !== undefined) {
    throw new CliError('usage', 'Limit the role either to a policy with --policy or to a model with --model.');
  }
  if (policy === undefined && model === undefined) return;
  const kind = policy === undefined ? 'model' : 'policy';
  const roles: readonly string[] = limited[kind];
  if (roles.includes(role)) return;
  const sentence = `The role ${role} cannot be limited to a ${kind}: choose --role ${roles.join(' or ')}, or leave out --${kind}.`;
  throw new CliError('usage', sentence);
}

function holderOf(name: string, options: ChangeOptions): ControlRight['holder'] {
  const { issuer, group } = options;
  if (issuer === undefined && options.server !== undefined) {
    throw new CliError('usage', '--server needs the issuer of the tokens of the subject: give --issuer.');
  }
  const from = issuer ?? developmentIssuer.issuer;
  return group === true ? { issuer: from, group: name } : { issuer: from, subject: name };
}

type Scope = Pick<ControlRight, 'policyId' | 'modelId'>;

/** The limit of a role as it was written; a wide result also has the id that was found for it. */
function scopeText({ policy, model }: ChangeOptions, { policyId, modelId }: Scope, isWide: boolean): string {
  const id = policyId ?? modelId;
  if (id === undefined) return '';
  const word = policy ?? model;
  const written = isWide && word !== id ? `${word} (${id})` : word;
  return ` for the ${policyId === undefined ? 'model' : 'policy'} ${written}`;
}

async function scopeOf(connection: ManagementConnection, { policy, model }: ChangeOptions): Promise<Scope> {
  return {
    ...(policy === undefined ? {} : { policyId: await targetIdOf(connection, 'policy', policy) }),
    ...(model === undefined ? {} : { modelId: await targetIdOf(connection, 'model', model) }),
  };
}
