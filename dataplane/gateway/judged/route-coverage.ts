import type { JudgedTextKind } from '#contracts/judged-texts';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { CheckUnit } from '../chat/check-unit.ts';
import { accept, type ParseResult, refuse } from '../chat/parse-result.ts';
import type { Covered } from './covered-texts.ts';
import type { SentTexts } from './sent-texts.ts';

/**
 * The kinds of text that `judge` of a binding adds to those of the contract, and whether other text is refused. `sent`:
 * the texts of the request that an answer may repeat; without `sent`, none may be repeated.
 */
export type Coverage = {
  readonly judged: ReadonlySet<JudgedTextKind>;
  readonly refuseUnjudged: boolean;
  readonly sent?: SentTexts;
};

const contractOnly: Coverage = { judged: new Set(), refuseUnjudged: false };

export function coverageOf({ judge, unjudged }: GatewayRouteSpec): Coverage {
  if (judge === undefined && unjudged !== 'Refuse') return contractOnly;
  return { judged: new Set(judge), refuseUnjudged: unjudged === 'Refuse' };
}

/** Whether only the texts of the contract are judged, and other text is not refused. */
export function isContractOnly({ judged, refuseUnjudged }: Coverage): boolean {
  return judged.size === 0 && !refuseUnjudged;
}

/** The further texts of a request; `read` is called only if the binding judges them. */
export function readFurtherTexts(coverage: Coverage, read: () => Covered): ParseResult<readonly CheckUnit[]> {
  if (isContractOnly(coverage)) return accept([]);
  const { units, unjudgedAt } = read();
  if (coverage.refuseUnjudged && unjudgedAt !== undefined) return refuse('unjudged_text', unjudgedAt);
  return accept(units);
}
