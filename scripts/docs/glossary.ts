import { changeOperations, isObject, type Json, nameIn, objectAt } from './walk.ts'

/**
 * The meaning of a property whose schema does not say it: names that several schemas have. `Schema.property` for one schema
 * alone, `query.name` for parameters. A word of one schema is described in that schema.
 */
export const words: Readonly<Record<string, string>> = {
  accepted_at: 'When it was accepted; null while it was not.',
  accepted_by: 'Who accepted it; null while no one has.',
  access_token: 'The access token: send it as `Authorization: Bearer …`.',
  account_id: 'The account, by id.',
  account_number: 'The account number to pay in under.',
  account_reference: 'The reference on the payment; at a paybill the account that is paid.',
  account_reference_required: 'Whether each payment names a reference.',
  action: 'What was done, as `feature.verb`.',
  address: 'The address of the wallet.',
  after: 'How it was afterwards; null where there is nothing to show.',
  alg: 'The algorithm, as its standard names it.',
  'SuspenseItem.amount_minor': 'What arrived or left, in minor units.',
  api_keys: 'Whether API keys work.',
  approval: 'The approval, with its decisions and signatures; null where none was needed.',
  approval_id: 'The approval that it waits for or had; null where none is needed.',
  approval_proof: 'Which decisions count: any, or only those that are signed.',
  approval_threshold_minor: 'From this amount on a person must approve, in minor units; null for no threshold.',
  approvals_by_mandate: 'How many approvals the mandate gives: 0 or 1.',
  approve: 'The text to sign in order to approve.',
  approved_by: 'Who approved it; empty where no approval was needed.',
  approver_ids: 'The only accounts whose decisions count for these payments; null for every member who may decide.',
  at: 'When it happened.',
  authorization_details_types_supported: 'The types of `authorization_details` (RFC 9396).',
  authorization_endpoint: 'Where a person is sent to authorize.',
  balance: 'What can be spent and what is held.',
  bank_code: 'The code of the bank, for an account number; one of `GET /v1/banks`.',
  batch_id: 'The payment batch that it is an item of; null for a payment alone.',
  before: 'How it was before; null where there is nothing to show.',
  beneficiary: 'Who is paid.',
  beneficiary_id: 'Who is paid, by id.',
  beneficiary_ids: 'Only these beneficiaries; empty or absent for any.',
  booked_minor: 'What this service has booked, in minor units.',
  by_type: 'What each type of entry adds up to.',
  capabilities: 'What the account may do at all.',
  checked_at: 'When it was last checked; null while it never was.',
  client_id: 'The application, by id.',
  client_name: 'The name of the application.',
  client_secret: 'The secret of the application; absent for a public one.',
  client_uri: 'The page of the application.',
  clientDataJSON: 'What the browser signed for, base64url (WebAuthn).',
  'Bank.code': 'What `bank_code` takes.',
  code: 'The code of the warning.',
  'query.code': 'What the provider gave for this sign-in.',
  completed_at: 'When it ended; null while it has not.',
  'query.confirmation': 'Only beneficiaries that are confirmed, or only those that are proposed.',
  count: 'How many there are.',
  created_after: 'Only what was created after this time.',
  created_at: 'When it was created.',
  created_before: 'Only what was created before this time.',
  credential: 'The credential that was used.',
  crv: 'The curve (RFC 8037).',
  currency: 'The currency of all amounts here, as its ISO 4217 code.',
  daily_limit_minor: 'What a day may add up to, in minor units; null for no limit.',
  data: 'The items of this page.',
  date: 'The day, in the time zone of the workspace.',
  days: 'How many days it covers.',
  decided_at: 'When it was decided.',
  'AdminPayment.decision': 'Why it was allowed or asked for approval.',
  'Payment.decision': 'Why it was allowed or asked for approval.',
  decision: 'What was decided.',
  'query.decision': 'Whether the text is to approve or to reject; `approve` where it is left out.',
  decisions: 'The decisions so far, in their order.',
  description: 'What it is for, in words.',
  destination_mask: 'The last characters of the destination. The destination itself is never shown.',
  details: 'What helps to correct the request.',
  device_code: 'What the device asks for its token with.',
  direction: 'Whether money came in or went out.',
  display_name: 'The name that people see.',
  duplicate_window_seconds:
    'How far back a payment of the same amount counts as its duplicate; null for the deployment’s own window.',
  e: 'The exponent of an RSA key, base64url.',
  eligible_approvers: 'How many people may give the approvals.',
  email: 'The verified e-mail address; null if there is none.',
  email_verified: 'Whether the provider has verified the e-mail address.',
  entries: 'What was booked, oldest first.',
  error: 'The code of the error.',
  'query.error': 'Why the provider refused, if it did.',
  expires_at: 'When it expires; null for never.',
  expires_in: 'In how many seconds it expires.',
  failure_code: 'Why it failed, in words of this service; null unless it failed. The reference of codes says who must act.',
  failure_message: 'Why it failed, for people; null unless it failed.',
  flow: 'How the application gets its answer.',
  from: 'The first day or entry, included.',
  frozen: 'Whether it is stopped: it authenticates and moves no money.',
  grant: 'What was delegated: permissions, limits, and what of them is used.',
  grant_id: 'The API key’s or agent’s grant; null for a person.',
  grant_types: 'How the application may get tokens.',
  id: 'Its id.',
  idempotency_key: 'The `Idempotency-Key` of the request that created it; null if it had none.',
  'query.idempotency_key': 'The one that was created with this key.',
  identities: 'The ways to sign in.',
  index: 'Its place, from 0.',
  initiated_by: 'Who asked for it: an account, and the grant of a key or an agent.',
  invited_by: 'Who invited.',
  ip: 'The address that the request came from; null if it is not known.',
  issued_at: 'When it was issued.',
  issuer: 'The address of the service that issued it.',
  items: 'The payments, in their order.',
  items_count: 'How many payments it has.',
  keys: 'The public keys, retired ones included.',
  kid: 'The id of the key.',
  kind: 'What kind it is.',
  kty: 'The type of the key (RFC 7517).',
  label: 'The name of the key or the agent; null for a person.',
  last_four: 'The last four characters of the key.',
  last_used_at: 'When it was last used, to the minute; null for never.',
  ledger_transfers: 'What was booked on the ledger for it.',
  legal_name: 'The name as registered, with which the rail’s answer is compared; null if none was given.',
  'TrialBalance.lines': 'The balance of each ledger account.',
  lines: 'How many lines the statement has.',
  mandate: 'The mandate that covered it; null if none did.',
  mandate_id: 'The mandate that it names; null if none.',
  max_payments: 'How many payments at most; null for no such limit.',
  max_per_payment_minor: 'What one payment may be at most, in minor units; null for no such limit.',
  merkle_root: 'RFC 6962, hexadecimal: over the items in their order.',
  message: 'The text, for people.',
  metadata: 'Your own references.',
  month_minor: 'In the current month, in minor units; null for no limit.',
  monthly_limit_minor: 'What a month may add up to, in minor units; null for no limit.',
  n: 'The modulus of an RSA key, base64url.',
  name: 'Its name.',
  narrative: 'What it is for; the person who approves reads it.',
  new_payees: 'What a payment gets to a beneficiary that no person has confirmed.',
  next_cursor: 'The `cursor` of the next page; null on the last.',
  nonce: 'What makes the text valid once.',
  note: 'What the administrator wrote about it.',
  oauth: 'Whether agents that are authorized by OAuth work.',
  on_duplicate: 'What a payment gets that looks like an earlier one.',
  'SignedIn.outcome': 'What the signature did.',
  'SuspenseItem.outcome': 'How it was resolved; null while it is open.',
  outcome: 'What the strictest rule says.',
  parent_grant_id: 'The grant through which it was made; null for one that a person made.',
  payee: 'Who was paid; null for what is no payment.',
  payment_id: 'The payment, by id.',
  payment_rail: 'How money reaches the beneficiary.',
  'query.payment_rail': 'Only beneficiaries that are paid by this rail.',
  payment_type: 'What kind of payment it is: its rail, or a word of your own.',
  payment_types: 'Only these payment types or rails; empty or absent for any.',
  payments: 'Whether the account may pay.',
  per_payment_limit_minor: 'What one payment may be at most, in minor units; null for no limit.',
  per_payment_minor: 'For one payment, in minor units; null for no limit.',
  permissions: 'What it may do.',
  policy_versions: 'The policies that applied, each in the version that decided.',
  provider: 'Who vouches for it, or who sent it.',
  provider_receipt: 'The receipt of the rail or the bank; null while there is none.',
  rail: 'The rail.',
  rawId: 'The id of the passkey, base64url (WebAuthn).',
  reason: 'Why, in words; null if none was given.',
  receipt: 'The rail’s receipt.',
  reconciliation_id: 'The statement in which it was found.',
  redirect_uris: 'Where a person may be sent back to.',
  reference: 'What the entry belongs to, or the reference to pay in under.',
  refresh_token: 'What gets the next pair of tokens, once.',
  reject: 'The text to sign in order to reject.',
  request_id: 'The `X-Request-Id` of the request; null for what was no request.',
  request_uri: 'What names the request that was sent ahead.',
  requested_by: 'Who asked for it.',
  requested_minor: 'What was asked for, in minor units.',
  required_approval_count: 'How many people must approve.',
  required_approvals: 'How many approvals it needs.',
  resets_at: 'When what is used begins at 0 again.',
  resolved_at: 'When it was resolved; null while it is open.',
  resolved_by: 'Who resolved it; null while it is open.',
  resource: 'The address of the resource.',
  response: 'What the authenticator answered (WebAuthn).',
  response_types: 'What the application asks for.',
  retention_days: 'For how many days events are kept.',
  revoked_at: 'When it was revoked; null while it was not.',
  rows: 'How many rows the seal covers.',
  scope: 'The permissions of the token, separated by spaces.',
  scopes_supported: 'The permissions that can be asked for.',
  separation_of_duties: 'Whether the one who asked may not approve.',
  signature: 'The signature; null where none was given.',
  signer: 'The wallet that signed; null for a decision with a credential.',
  'Reconciliation.source': 'Where the statement came from.',
  source: 'Whose rule it is.',
  spending_controls: 'Its limits: what it may pay, to whom, and when a person must approve.',
  state: 'What the provider sends back as it was.',
  stated_minor: 'What the provider’s statement says, in minor units.',
  'query.status': 'Only those with this status.',
  status: 'How it stands.',
  sub: 'The account.',
  terms: 'What the mandate allows.',
  time_zone: 'Decides where a day and a month begin, as an IANA name.',
  timeout: 'For how many milliseconds the browser may ask (WebAuthn).',
  to: 'The last day, included.',
  today_minor: 'In the current day, in minor units; null for no limit.',
  token: 'The token, which is shown once.',
  token_endpoint: 'Where tokens are given.',
  token_endpoint_auth_method: 'How the application authenticates there.',
  token_type: 'How the token is sent: `Bearer`.',
  topup_id: 'The top-up, by id; null for what is none.',
  topups: 'Whether the account may be topped up.',
  total_limit_minor:
    'What all payments may add up to, in minor units: counted since the limit was first set, and never starts again; null for no limit.',
  total_minor: 'In all, in minor units; null for no limit.',
  totals: 'What the entries add up to.',
  type: 'What kind it is.',
  updated_at: 'When it was last changed.',
  uri: 'The address.',
  use: 'What the key is for.',
  user_agent: 'What the browser or program calls itself; null if it does not say.',
  user_code: 'The code that a person compares and enters.',
  userVerification: 'Whether the authenticator checks the person (WebAuthn).',
  valid_from: 'From when on it is valid.',
  verification: 'What the rail says about the name, compared with the one given here.',
  version: 'Which version it is: it grows by one with each change.',
  via: 'How it was decided: with a credential, or by a signature.',
  'query.wallet_address': 'Only accounts that this wallet signs in to.',
  wallet_address: 'The wallet that is invited; null for an e-mail address.',
  workspace: 'The workspace.',
  workspace_id: 'The workspace, by id; null for what belongs to the account alone.',
  x: 'The key, or its first coordinate, base64url.',
}

const wordsFor = (owner: string, name: string): string | undefined => words[`${owner}.${name}`] ?? words[name]

/** Whether it has its own description, or its schema has one. */
export const isDescribed = (schema: Json, schemas: Json): boolean => {
  const named = nameIn(schema)
  return schema.description !== undefined || (named !== undefined && objectAt(schemas, named).description !== undefined)
}

const describeAll = (node: unknown, owner: string, schemas: Json): unknown => {
  if (Array.isArray(node)) return node.map((item) => describeAll(item, owner, schemas))
  if (!isObject(node)) return node
  const changed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, describeAll(value, owner, schemas)]))
  const { properties } = changed
  if (!isObject(properties)) return changed
  return {
    ...changed,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const description = wordsFor(owner, name)
        return [
          name,
          isObject(schema) && description !== undefined && !isDescribed(schema, schemas) ? { ...schema, description } : schema,
        ]
      }),
    ),
  }
}

const describeParameters = (operation: Json): Json =>
  Array.isArray(operation.parameters)
    ? {
        ...operation,
        parameters: operation.parameters.map((parameter: unknown) => {
          if (!isObject(parameter) || parameter.description !== undefined) return parameter
          const own = objectAt(parameter, 'schema').description
          const description = own ?? wordsFor('query', String(parameter.name))
          return description === undefined ? parameter : { ...parameter, description }
        }),
      }
    : operation

/** Describes each property and parameter without a description: a name means the same everywhere, with listed exceptions. */
export const describe = (document: Json): Json => {
  const components = objectAt(document, 'components')
  const schemas = objectAt(components, 'schemas')
  const described = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, describeAll(schema, name, schemas)]),
  )
  const paths = describeAll(document.paths, 'body', schemas)
  return changeOperations({ ...document, paths, components: { ...components, schemas: described } }, describeParameters)
}
