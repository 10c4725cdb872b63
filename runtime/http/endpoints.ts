import { getDocs } from './get-docs.ts';
import { getMetrics } from './get-metrics.ts';
import { getOpenapi } from './get-openapi.ts';
import { getReadyz } from './get-readyz.ts';
import { postRequest } from './post-request.ts';
import { postResponse } from './post-response.ts';
import type { Endpoint } from './runtime-service.ts';

/** All endpoints of the interface (`guardrail:endpoints:*`). */
export const endpoints: readonly Endpoint[] = [postRequest, postResponse, getReadyz, getMetrics, getOpenapi, getDocs];
