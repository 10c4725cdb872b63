/** A check of the conformance suite that this server fails: the reason, and a part of the message of the check. */
export type ExpectedFailure = { readonly reason: string; readonly message: string };

const noLogging = 'the server sends no log messages and does not declare the capability logging';
const noCompletions = 'the server has no prompts and templates whose arguments a client completes';
const noResources = 'the server has no resources: documents are found with its tools, with the rights of the user';
const noPrompts = 'the server has no prompts';
const foreignTool = 'the suite calls a tool of its own reference server, which only that server has';
const noSessions = 'the server has no sessions and streams, so that any replica answers any message';
const noWebPages = 'requests with an Origin are refused, those of a page of the same host as well: no page is a client';

const method = (reason: string): ExpectedFailure => ({ reason, message: 'Method not found' });
const tool: ExpectedFailure = { reason: foreignTool, message: 'Unknown tool' };

/** Checks that must succeed, as SCENARIO CHECK. */
export const expectedPasses: readonly string[] = [
  'dns-rebinding-protection localhost-host-rebinding-rejected',
  'ping ping',
  'server-initialize server-initialize',
  'tools-list tools-list',
];

/** Checks that must fail, and for this reason only. */
export const expectedFailures: Readonly<Record<string, ExpectedFailure>> = {
  'completion-complete completion-complete': method(noCompletions),
  'dns-rebinding-protection localhost-host-valid-accepted': { reason: noWebPages, message: 'got 403' },
  'elicitation-sep1034-defaults elicitation-sep1034-general': tool,
  'elicitation-sep1330-enums elicitation-sep1330-general': tool,
  'json-schema-2020-12 json-schema-2020-12-tool-found': { reason: foreignTool, message: 'not found. Available tools' },
  'logging-set-level logging-set-level': method(noLogging),
  'prompts-get-embedded-resource prompts-get-embedded-resource': method(noPrompts),
  'prompts-get-simple prompts-get-simple': method(noPrompts),
  'prompts-get-with-args prompts-get-with-args': method(noPrompts),
  'prompts-get-with-image prompts-get-with-image': method(noPrompts),
  'prompts-list prompts-list': method(noPrompts),
  'resources-list resources-list': method(noResources),
  'resources-read-binary resources-read-binary': method(noResources),
  'resources-read-text resources-read-text': method(noResources),
  'resources-subscribe resources-subscribe': method(noResources),
  'resources-templates-read resources-templates-read': method(noResources),
  'resources-unsubscribe resources-unsubscribe': method(noResources),
  'server-sse-multiple-streams server-sse-multiple-streams-session': {
    reason: noSessions,
    message: 'Server did not provide session ID',
  },
  'server-sse-polling server-sse-polling-session': { reason: noSessions, message: 'Server did not provide session ID' },
  'tools-call-audio tools-call-audio': tool,
  'tools-call-elicitation tools-call-elicitation': tool,
  'tools-call-embedded-resource tools-call-embedded-resource': tool,
  'tools-call-error tools-call-error': tool,
  'tools-call-image tools-call-image': tool,
  'tools-call-mixed-content tools-call-mixed-content': tool,
  'tools-call-sampling tools-call-sampling': tool,
  'tools-call-simple-text tools-call-simple-text': tool,
  'tools-call-with-logging tools-call-with-logging': method(noLogging),
  'tools-call-with-progress tools-call-with-progress': tool,
};
