import { budgetSchema, type GrantedBudget } from '#identity/run-grant';

/** A request for a token (RFC 8693, section 2.1), or the error of RFC 6749, section 5.2. */
type ReadExchange =
  | {
      readonly kind: 'exchange';
      readonly grant: string;
      readonly audience: string;
      readonly budget: GrantedBudget | undefined;
    }
  | { readonly kind: 'error'; readonly error: 'invalid_request' | 'unsupported_grant_type'; readonly why: string };

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const subjectTypes: ReadonlySet<string> = new Set(['urn:ietf:params:oauth:token-type:jwt', accessToken]);
const known: ReadonlySet<string> = new Set([
  'grant_type',
  'subject_token',
  'subject_token_type',
  'audience',
  'requested_token_type',
  'budget',
]);

/** Reads the form fields of a token exchange strictly: one grant, one audience, no field that would widen the token. */
export function readExchange(form: string): ReadExchange {
  const invalid = (why: string): ReadExchange => ({ kind: 'error', error: 'invalid_request', why });
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(form)) {
    if (!known.has(name)) return invalid('a parameter is not supported');
    if (values.has(name)) return invalid('a parameter is repeated: one token has one audience');
    values.set(name, value);
  }
  const grantType = values.get('grant_type');
  if (grantType === undefined) return invalid('grant_type is missing');
  if (grantType !== exchangeGrant) {
    return { kind: 'error', error: 'unsupported_grant_type', why: `grant_type must be ${exchangeGrant}` };
  }
  const [grant, audience] = [values.get('subject_token'), values.get('audience')];
  if (grant === undefined || grant === '') return invalid('subject_token is missing: it is the grant of the run');
  if (!subjectTypes.has(values.get('subject_token_type') ?? ''))
    return invalid('subject_token_type must be that of a JWT');
  if (audience === undefined || audience === '') return invalid('audience is missing');
  const requested = values.get('requested_token_type');
  if (requested !== undefined && requested !== accessToken)
    return invalid(`requested_token_type must be ${accessToken}`);
  const budget = readBudget(values.get('budget'));
  if (budget === 'invalid') return invalid('budget must be the amounts of a run as JSON');
  return { kind: 'exchange', grant, audience, budget };
}

/** The budget that a run assigns to the run of a called agent; undefined if the request names none. */
function readBudget(text: string | undefined): GrantedBudget | 'invalid' | undefined {
  if (text === undefined) return undefined;
  try {
    return budgetSchema.safeParse(JSON.parse(text)).data ?? 'invalid';
  } catch {
    return 'invalid';
  }
}
