/**
 * Whether a message can become a memory. Facts are extracted from messages of the user only; without extraction
 * messages of the assistant are kept, too. Text of tools and of the system is never stored (docs/design/memory.md).
 */
export function isStorable({ role }: { readonly role: string }, infer: boolean): boolean {
  return role === 'user' || (role === 'assistant' && !infer);
}
