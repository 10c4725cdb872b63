import { createHash } from 'node:crypto';
import type { TenantCaller } from '#identity/tenant-caller';
import type { Sql, TransactionSql } from '#sql/connect';
import type { MemoryQuota } from './memory-quota.ts';
import { changesOfPacking, waitForPacking } from './wait-for-packing.ts';

/** A person about whom the service stores data. */
export type Person = {
  readonly person: string;
  /** Sequence number of the newest committed change to the memories of the user. */
  readonly changeNo: string;
};

type PersonName = Pick<TenantCaller, 'tenant' | 'user'>;

function userKey({ user }: PersonName): string {
  return JSON.stringify([user.issuer, user.subject]);
}

/** Identifies a person in the record of an erasure, without the name. */
export function personDigest(caller: PersonName): string {
  return createHash('sha256')
    .update(JSON.stringify([caller.tenant, caller.user.issuer, caller.user.subject]))
    .digest('hex');
}

export async function findPerson(sql: Sql | TransactionSql, caller: PersonName): Promise<Person | undefined> {
  const [row] = await sql<Person[]>`
    select person, change_no as "changeNo" from memory.people
    where tenant = ${caller.tenant} and user_key = ${userKey(caller)}`;
  return row;
}

/**
 * The person of a caller, created if absent, and locked until the end of the transaction; undefined if the tenant has as
 * many users as allowed. Users that are created at the same time can together exceed the number: it bounds load and is no
 * protection.
 */
export async function lockPersonOf(
  sql: TransactionSql,
  caller: PersonName,
  quota: Pick<MemoryQuota, 'tenantUsers'>,
): Promise<string | undefined> {
  const key = userKey(caller);
  const lock = () => sql<{ person: string }[]>`
    select person from memory.people where tenant = ${caller.tenant} and user_key = ${key} for update`;
  const [known] = await lock();
  if (known !== undefined) return known.person;
  const [full] = await sql`
    select 1 from memory.tenants where tenant = ${caller.tenant} and users >= ${quota.tenantUsers}`;
  if (full !== undefined) return undefined;
  await sql`insert into memory.people (tenant, user_key) values (${caller.tenant}, ${key}) on conflict do nothing`;
  const [row] = await lock();
  // An erasure removed the row between the two statements: a repeated call creates the row again.
  return row === undefined ? lockPersonOf(sql, caller, quota) : row.person;
}

/**
 * Locks a person until the end of the transaction and returns the number of the next change; undefined after an
 * erasure.
 */
export async function beginChange(sql: TransactionSql, person: string): Promise<string | undefined> {
  const [row] = await sql<{ change_no: string }[]>`
    update memory.people set change_no = change_no + 1 where person = ${person} returning change_no`;
  if (row !== undefined && BigInt(row.change_no) % changesOfPacking === 0n) {
    await waitForPacking(sql, person);
  }
  return row?.change_no;
}
