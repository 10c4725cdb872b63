const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';

/** The forms of the ids in paths about agents. */
export const agentIdForm = `:id{${uuid}}`;
export const versionForm = `:version{${uuid}}`;
