/** Texts of policies in the rows of commands. Every method throws RecordsUnavailableError. */
export type CommandTexts = {
  /** Whether a command that has not ended writes a definition with this digest. */
  isWriting(policyId: string, definitionDigest: string): Promise<boolean>;
  /**
   * Removes the definition with this digest from commands that have ended, and the messages of these commands and of those
   * that saved the revision.
   */
  forget(policyId: string, revision: { readonly number: number; readonly definitionDigest: string }): Promise<void>;
};
