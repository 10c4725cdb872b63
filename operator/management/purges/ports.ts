type RevisionText = { readonly number: number; readonly definitionDigest: string };

/** Texts of policies in the rows of commands. Every method throws RecordsUnavailableError. */
export type CommandTexts = {
  /** Whether a command that has not ended writes the definition of the revision, or applies the revision. */
  isInCommand(policyId: string, revision: RevisionText): Promise<boolean>;
  /**
   * Removes the definition with this digest from commands that have ended, the messages of these commands and of those that
   * saved the revision, and the causes of applications of the revision that failed.
   */
  forget(policyId: string, revision: RevisionText): Promise<void>;
};
