import { z } from 'zod';
import {
  annotations,
  apiObjects,
  budget,
  clientAddress,
  existingSecret,
  logLevel,
  placement,
  replicas,
  secretName,
  tenantName,
} from './shared-values.ts';

/** Browsers send the session of a person over TLS only. */
const httpsUrl = z
  .string()
  .max(2_048)
  .regex(/^https:\/\/[^\s/?#@]+$/);
/** A duration of the Gateway API (GEP-2257). */
const routeDuration = z.string().regex(/^([0-9]{1,5}(h|m|s|ms)){1,4}$/);

/** Values of the console. */
export const consoleService = z.strictObject({
  enabled: z.boolean(),
  replicas,
  logLevel,
  url: z.union([z.literal(''), httpsUrl]),
  oidc: z.strictObject({
    issuerUrl: z.union([
      z.literal(''),
      z
        .string()
        .max(2_048)
        .regex(/^https:\/\/[^\s/?#@][^\s?#]*$/),
    ]),
    clientId: z.string().min(1).max(255),
    clientSecret: existingSecret,
    scope: z.string().regex(/^openid( [!#-[\]-~]+)*$/),
    resource: z.union([z.literal(''), z.url().max(2_048)]),
    actChain: z.boolean(),
  }),
  cookieKey: existingSecret,
  tenant: tenantName,
  egress: apiObjects,
  ...clientAddress,
  ingress: z.strictObject({ enabled: z.boolean(), className: secretName, tlsSecret: secretName, annotations }),
  httpRoute: z.strictObject({
    enabled: z.boolean(),
    parentRefs: apiObjects,
    annotations,
    timeouts: z.strictObject({ request: routeDuration }),
  }),
  ...placement,
  podDisruptionBudget: budget,
});
