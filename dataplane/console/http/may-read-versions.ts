import type { AgentRecord } from '#contracts/catalogue';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { ConsoleContext } from './environment.ts';

/**
 * Whether the versions of an agent are requested from the management API: for a person with the right to view the
 * control plane, and for its owner. The record has only the subject of the owner, so the API decides. For other persons
 * the API is not called, because a refusal is an audit entry.
 * @param read reads the record of the agent from the catalogue
 */
export async function mayReadVersions(
  context: ConsoleContext,
  read: () => Promise<ApiAnswer<AgentRecord>>,
): Promise<boolean> {
  const { rights, subject } = context.get('session');
  const held = await context.get('management').ownRights();
  if (held.kind === 'value' ? held.value.view : rights.view) return true;
  const record = await read();
  return record.kind === 'value' && record.value.owner.ownerSubject === subject;
}
