import type { Logger } from '#kit/log/logger';
import type { Spans } from '#kit/trace/span';
import type { AdmissionParts } from '../calls/admit-agent-call.ts';
import type { CardParts } from '../cards/serve-signed-card.ts';
import type { ConnectionParts } from '../connections/serve-connection.ts';
import type { ExchangeParts } from '../exchange/exchange-token.ts';
import type { AgentCallMetrics } from '../metrics/agent-call-metrics.ts';
import type { ForwardParts } from '../relay/forward-call.ts';

/** The state and the parts that all calls of agents share in one gateway replica. */
export type AgentPlane = AdmissionParts &
  CardParts &
  ConnectionParts &
  ExchangeParts &
  ForwardParts & {
    readonly metrics: AgentCallMetrics;
    readonly spans: Spans;
    readonly logger: Logger;
  };
