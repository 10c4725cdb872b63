import { failure } from '#api/operation';
import type { TenantCaller } from '#identity/tenant-caller';
import type { MemoryError } from './memory.ts';

/** The id of the calling user, as records show it. */
export function userIdOf({ user }: TenantCaller): string {
  return user.subject;
}

/** The accepted forms of a user_id: the subject, with or without its issuer. */
export function userNames({ user: { issuer, subject } }: TenantCaller): readonly string[] {
  return [subject, `${issuer}|${subject}`];
}

/**
 * The error for a user_id of another caller (memory:error:wrong-user-id); undefined if the user_id is that of the
 * caller.
 */
export function wrongUser(caller: TenantCaller, userId: string | undefined): MemoryError | undefined {
  return userId === undefined || userNames(caller).includes(userId) ? undefined : failure('wrong_user_id');
}

/** The memories of the caller that a list or a deletion covers. */
type Scope = { readonly agentId: string | null; readonly runId: string | null };

/** The scope of a query string; user_id alone means all memories of the caller (memory:list:no-filter). */
export function readScope(
  caller: TenantCaller,
  query: Readonly<Record<string, string | undefined>>,
): Scope | MemoryError {
  const { agent_id: agentId, run_id: runId, user_id: userId } = query;
  const refused = wrongUser(caller, userId);
  if (refused !== undefined) return refused;
  if (agentId === undefined && runId === undefined && userId === undefined) return failure('missing_filter');
  return { agentId: agentId ?? null, runId: runId ?? null };
}
