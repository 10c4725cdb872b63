import { getDocs } from './get-docs.ts';
import { getMetrics } from './get-metrics.ts';
import { getOpenapi } from './get-openapi.ts';
import { getReadyz } from './get-readyz.ts';
import { postRequest } from './post-request.ts';
import { postResponse } from './post-response.ts';
import type { Operation } from './runtime-service.ts';

/** All operations of the interface (document 1, section 4). */
export const operations: readonly Operation[] = [postRequest, postResponse, getReadyz, getMetrics, getOpenapi, getDocs];
