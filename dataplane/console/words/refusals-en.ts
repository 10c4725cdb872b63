import type { AgentErrorCode } from '#contracts/agent-errors';
import type { AgentGatewayErrorCode } from '#contracts/agent-gateway-errors';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';
import type { ManagementErrorCode, OperationFailureCode } from '#contracts/management-errors';
import type { MemoryErrorCode } from '#contracts/memory-errors';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';

/** Codes of faults in the protocol, or of operations that no page offers. */
type UnseenCode =
  | 'invalid_json'
  | 'idempotency_key_missing'
  | 'idempotency_key_invalid'
  | 'if_match_invalid'
  | 'if_match_missing'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'headers_too_large'
  | 'freeze_not_found'
  | 'freeze_quota_reached'
  | 'last_administrator'
  | 'revision_in_use'
  | 'missing_scope'
  | 'missing_filter'
  | 'wrong_user_id'
  | 'token_exposed'
  | 'operation_not_supported'
  | 'push_notification_not_supported'
  | 'extended_card_not_configured'
  | 'content_type_not_supported'
  | 'cancelled'
  | 'version_not_supported'
  | 'not_acceptable'
  | 'session_not_found'
  | 'stream_unread'
  | 'UnsupportedOperationError';

/** Codes of refusals and failures that a user of the pages meets. */
export type RefusalCode =
  | Exclude<
      | ManagementErrorCode
      | OperationFailureCode
      | RetrievalErrorCode
      | MemoryErrorCode
      | CatalogueErrorCode
      | AgentGatewayErrorCode
      | AgentErrorCode,
      UnseenCode
    >
  | 'upstream_error';

/**
 * A sentence for a code that replaces the sentence of the API; without one, English pages show the sentence of the API.
 */
export const refusalsEn: Readonly<Partial<Record<RefusalCode, string>>> = {};
