import { changeOperations, isObject, type Json, nameIn, objectAt, rewrite } from './walk.ts'

/**
 * Descriptions of property names that several schemas share. `parent.property` applies inside an object of that name,
 * `Schema.property` to one schema, and `query.name` to parameters. "; null …" is omitted if the schema does not allow null.
 * A bare name describes answers, and values of one JSON type; a test compares both.
 */
export const words: Readonly<Record<string, string>> = {
  accepted_at: 'When it was accepted; null until then.',
  accepted_by: 'The account that accepted it; null until then.',
  access_token: 'The access token: send it as `Authorization: Bearer …`.',
  account_id: 'The ID of the account.',
  account_number: 'The account number to pay to.',
  account_reference: 'The reference on the payment. For a paybill, the account to pay.',
  account_reference_required: 'Whether each payment must have a reference.',
  'ReconciliationDifference.action': 'The next step for the administrator.',
  action: 'The action, as `feature.verb`.',
  address: 'The address of the wallet.',
  after: 'The state after the action; null if there is none.',
  'PasskeyOptions.alg': 'The number of the algorithm (COSE).',
  alg: 'The name of the algorithm in its standard.',
  'BeganHere.api_keys': 'API keys created there. `end=everything` revokes them.',
  'capabilities.api_keys': 'Whether API keys can act for the account.',
  approval: 'The approval with its decisions and signatures; null if none was needed.',
  approval_id: 'The approval of the payment or batch; null if none is needed.',
  approval_proof: 'The decisions that count: any, or only signed ones.',
  approval_threshold_minor: 'The amount from which a person must approve, in minor units; null for no threshold.',
  approvals_by_mandate: 'The number of approvals that the mandate gives: 0 or 1.',
  approve: 'The text to sign to approve.',
  approved_by: 'The accounts that approved it; empty if no approval was needed.',
  'late_success.at': 'When the provider reported the success.',
  'warnings.at': 'When the earlier payment was created.',
  at: 'When it happened.',
  authorization_details_types_supported: 'The types of `authorization_details` (RFC 9396).',
  authorization_endpoint: 'The endpoint at which a person authorizes a client.',
  bank_code: 'The code of the bank, for an account number; one of `GET /v1/banks`.',
  batch_id: 'The batch that contains the payment; null for a single payment.',
  before: 'The state before the action; null if there is none.',
  'ApprovalFact.beneficiary': 'The name of the beneficiary.',
  beneficiary: 'The beneficiary.',
  beneficiary_id: 'The ID of the beneficiary.',
  beneficiary_ids: 'The only beneficiaries allowed; empty or absent for any.',
  booked_minor: 'The amount that this service booked, in minor units.',
  by_type: 'The totals by type of entry.',
  'AdministerAccount.capabilities': 'The capabilities to switch on or off.',
  capabilities: 'The capabilities of the account.',
  checked_at: 'When the name was last checked; null if never.',
  client_id: 'The ID of the client.',
  client_name: 'The name of the application.',
  client_secret: 'The secret of the client; absent for a public client.',
  client_uri: 'The page of the application.',
  clientDataJSON: 'The client data of the signature, in base64url (WebAuthn).',
  'Bank.code': 'The value for `bank_code`.',
  'query.code': 'The code from the provider for this sign-in.',
  'warnings.code': 'The code of the warning.',
  completed_at: 'When the record reached its final status; null until then.',
  'query.confirmation': 'Only confirmed or only proposed beneficiaries.',
  'PaymentTotals.count': 'The number of payments.',
  created_after: 'Only items created after this time.',
  created_at: 'When it was created.',
  created_before: 'Only items created before this time.',
  credential: 'The credential that was used.',
  crv: 'The curve (RFC 8037).',
  currency: 'The currency of all amounts (ISO 4217).',
  daily_limit_minor: 'The daily limit, in minor units; null for no limit.',
  data: 'The items of this page.',
  date: 'The date in the workspace’s time zone.',
  'HistorySummary.days': 'The totals of each day, oldest first.',
  decided_at: 'When it was decided.',
  'AdminPayment.decision': 'The decision that allowed the payment or required approval.',
  'OAuthDecision.decision': 'Whether to approve or deny the access.',
  'OAuthDeviceDecision.decision': 'Whether to approve or deny the access.',
  'Payment.decision': 'The decision that allowed the payment or required approval.',
  'query.decision': 'Whether the text is for approving or rejecting. Defaults to `approve`.',
  decision: 'The decision.',
  decisions: 'The decisions so far, in order.',
  description: 'The purpose, in words.',
  destination_mask: 'The last characters of the destination. The destination itself is never shown.',
  details: 'Details that help to correct the request.',
  device_code: 'The code with which the device polls for its token.',
  direction: 'Whether money came in or went out.',
  display_name: 'The name that people see.',
  duplicate_window_seconds: 'How many seconds back a payment of the same amount counts as a duplicate; null for the default.',
  e: 'The exponent of an RSA key, in base64url.',
  eligible_approvers: 'The number of people who can approve.',
  'CreateInvitation.email': 'The email address to invite.',
  'Invitation.email': 'The invited email address; null if a wallet is invited.',
  'InvitationWithToken.email': 'The invited email address; null if a wallet is invited.',
  email: 'The verified email address; null if there is none.',
  email_verified: 'Whether the provider has verified the email address.',
  entries: 'The ledger entries, oldest first.',
  'query.error': 'The error from the provider, if any.',
  error: 'The error code.',
  expires_at: 'When it expires; null for never.',
  expires_in: 'The number of seconds until it expires.',
  failure_code: 'The failure code of this service; null unless it failed. The reference of codes lists who must act.',
  failure_message: 'The reason of the failure, for people; null unless it failed.',
  flow: 'The OAuth flow of the request.',
  'SealedLog.from': 'The number of seals in the earlier log.',
  from: 'The first day or entry, inclusive.',
  frozen: 'Whether the grant is frozen: it still authenticates, but cannot move money.',
  grant: 'The grant, with its permissions, limits and usage.',
  grant_id: 'The grant of the API key or agent; null for a person.',
  grant_types: 'The grant types that the client can use.',
  id: 'The unique ID.',
  'query.idempotency_key': 'Only the item created with this key.',
  idempotency_key: 'The `Idempotency-Key` of the request that created it; null if it had none.',
  'BeganHere.identities': 'Sign-in methods linked there. `end=everything` unlinks them.',
  identities: 'The sign-in methods.',
  index: 'The position, from 0.',
  initiated_by: 'Who requested it: the account and, for a key or an agent, its grant.',
  'InvitationPreview.invited_by': 'The person who sent the invitation.',
  invited_by: 'The account that sent the invitation.',
  ip: 'The IP address of the request; null if unknown.',
  issued_at: 'When it was issued.',
  issuer: 'The URL of the service that issued it.',
  items: 'The payments, in order.',
  items_count: 'The number of payments.',
  'CreatePushSubscription.keys': 'The keys of the subscription, as the browser made them (Push API).',
  'JsonWebKeySet.keys': 'The public keys, including retired ones.',
  kid: 'The ID of the key.',
  'ReconciliationDifference.kind': 'How the statement and the books differ.',
  'RevokeAllGrants.kind': 'The kind of grants to revoke.',
  'source.kind': 'The kind of rule: a policy, a grant, a mandate, a capability or a rail.',
  kind: 'The kind.',
  kty: 'The type of the key (RFC 7517).',
  label: 'The name of the key or the agent; null for a person.',
  last_four: 'The last four characters of the key.',
  last_used_at: 'When it was last used, to the minute; null if never.',
  ledger_transfers: 'The ledger transfers of the payment.',
  legal_name: 'The legal name, which is compared with the registered name; null if none was given.',
  'PaymentBatchLines.lines': 'The items of the batch, in order.',
  'Reconciliation.lines': 'The number of lines in the statement.',
  'TrialBalance.lines': 'The balance of each ledger account.',
  mandate: 'The mandate that covered it; null if none did.',
  mandate_id: 'The mandate that the payment names; null if none.',
  max_payments: 'The maximum number of payments; null for no limit.',
  max_per_payment_minor: 'The maximum amount of one payment, in minor units; null for no limit.',
  merkle_root: 'The Merkle root of the items in order (RFC 6962), in hexadecimal.',
  'LinkIdentity.message': 'The signed text, byte for byte.',
  'PreparedMandate.message': 'The text to sign, byte for byte.',
  'RevocationMessage.message': 'The text to sign, byte for byte.',
  'SigningMessage.message': 'The text to sign, byte for byte.',
  'VerifyWallet.message': 'The signed text, byte for byte.',
  'decisions.message': 'The signed text, byte for byte; null for a decision with a credential.',
  'mandate.message': 'The signed text, byte for byte.',
  'warnings.message': 'The text of the warning, for people.',
  message: 'The text, for people.',
  metadata: 'Your own references.',
  month_minor: 'The amount for the current month, in minor units; null for no limit.',
  monthly_limit_minor: 'The monthly limit, in minor units; null for no limit.',
  n: 'The modulus of an RSA key, in base64url.',
  'warnings.name': 'The name that the warning is about.',
  name: 'The name.',
  narrative: 'The purpose, which the approver reads.',
  new_payees: 'The outcome for payments to a beneficiary that no person has confirmed.',
  next_cursor: 'The `cursor` of the next page; null on the last page.',
  'CreateMandate.nonce': 'The nonce of the prepared text.',
  nonce: 'The nonce that makes the text valid only once.',
  note: 'The administrator’s note.',
  'capabilities.oauth': 'Whether OAuth clients can act for the account.',
  on_duplicate: 'The outcome for payments that look like an earlier one.',
  'SignedIn.outcome': 'The result of the sign-in.',
  'SuspenseItem.outcome': 'The resolution; null while the item is open.',
  outcome: 'The outcome of the strictest rule.',
  parent_grant_id: 'The parent grant; null if a person created the grant.',
  'PaymentBatchPreview.payee': 'Whether a beneficiary already exists or would be created.',
  payee: 'The paid beneficiary; null if the entry is not a payment.',
  payment_id: 'The ID of the payment.',
  'query.payment_rail': 'Only beneficiaries on this rail.',
  payment_rail: 'The rail that pays the beneficiary.',
  payment_type: 'The payment type: the rail, or your own word.',
  payment_types: 'The only payment types or rails allowed; empty or absent for any.',
  'capabilities.payments': 'Whether the account can make payments.',
  per_payment_limit_minor: 'The maximum amount of one payment, in minor units; null for no limit.',
  per_payment_minor: 'The amount for one payment, in minor units; null for no limit.',
  permissions: 'The permissions.',
  policy_versions: 'The policies that applied, each in the version that decided.',
  'LinkIdentity.provider': 'The provider of the new sign-in method.',
  'NameMovement.provider': 'The provider that made the movement.',
  'ProviderMovement.provider': 'The provider that made the movement.',
  'Reconciliation.provider': 'The provider whose statement was compared.',
  provider: 'The provider that vouches for it or sent it.',
  provider_receipt: 'The receipt number from the rail or bank; null if there is none.',
  'PaymentReceipt.rail': 'The rail that paid, with its receipt.',
  rail: 'The rail.',
  rawId: 'The ID of the passkey, in base64url (WebAuthn).',
  'ReconciliationDifference.reason': 'The likely reason.',
  'SuspenseItem.reason': 'Why the item is in suspense.',
  reason: 'Free-text reason; null if none was given.',
  'late_success.receipt': 'The provider’s receipt for the late success; null if it reported none.',
  receipt: 'The rail’s receipt.',
  reconciliation_id: 'The statement that contains it.',
  redirect_uris: 'The allowed redirect URIs.',
  'HistoryEntry.reference': 'The record that the entry belongs to.',
  'StatementEntry.reference': 'The reference on the payment; null if there is none.',
  'Topup.reference': 'The reference to pay with.',
  'WorkspaceHistoryEntry.reference': 'The record that the entry belongs to.',
  'WorkspaceStatementEntry.reference': 'The reference on the payment; null if there is none.',
  refresh_token: 'The refresh token, which gets the next pair of tokens once.',
  reject: 'The text to sign to reject.',
  request_id: 'The `X-Request-Id` of the request; null if there was no request.',
  request_uri: 'The reference to the pushed authorization request.',
  'Reconciliation.requested_by': 'The account or the shell user that started the comparison.',
  requested_by: 'The requester.',
  requested_minor: 'The requested amount in minor units.',
  required_approval_count: 'The number of people who must approve.',
  required_approvals: 'The number of required approvals.',
  resets_at: 'When the usage resets to 0.',
  resolved_at: 'When it was resolved; null while it is open.',
  resolved_by: 'The administrator who resolved it; null while it is open.',
  resource: 'The URL of the resource.',
  response: 'The response of the authenticator (WebAuthn).',
  response_types: 'The response types that the client uses.',
  retention_days: 'The number of days that events are kept.',
  revoked_at: 'When it was revoked; null until then.',
  'PaymentReceipt.rows': 'The rows of the audit log about the payment and its approval.',
  scope: 'The permissions of the token, separated by spaces.',
  scopes_supported: 'The permissions that can be requested.',
  separation_of_duties: 'Whether the requester is barred from approving.',
  signature: 'The signature; null if there is none.',
  signer: 'The wallet that signed; null for a decision with a credential.',
  'Reconciliation.source': 'The source of the statement.',
  source: 'The source of the rule.',
  spending_controls: 'The limits: amounts, beneficiaries, and when a person must approve.',
  state: 'The state that the provider returns unchanged.',
  stated_minor: 'The amount in the provider’s statement, in minor units.',
  'AdministerAccount.status': 'The new status.',
  'UpdateBeneficiary.status': 'The new status.',
  'UpdateMember.status': 'The new status.',
  'query.status': 'Only items with this status.',
  status: 'The status.',
  sub: 'The account.',
  terms: 'The terms of the mandate.',
  time_zone: 'The IANA time zone that decides when a day and a month begin.',
  timeout: 'The time limit for the browser, in milliseconds (WebAuthn).',
  to: 'The last day, inclusive.',
  today_minor: 'The amount for the current day, in minor units; null for no limit.',
  'AcceptInvitation.token': 'The token from the link of the invitation.',
  'PreviewInvitation.token': 'The token from the link of the invitation.',
  token_endpoint: 'The token endpoint.',
  token_endpoint_auth_method: 'How the client authenticates at the token endpoint.',
  token_type: 'The type of the token: `Bearer`.',
  topup_id: 'The ID of the top-up; null if there is none.',
  'capabilities.topups': 'Whether the account can top up.',
  total_limit_minor: 'The limit for all payments since it was first set, in minor units. It never resets; null for no limit.',
  total_minor: 'The total amount, in minor units; null for no limit.',
  totals: 'The totals of the entries.',
  type: 'The kind.',
  updated_at: 'When it was last changed.',
  'OAuthClient.uri': 'The page of the application; null if it named none.',
  'WalletNonce.uri': 'The URI for the text to sign (ERC-4361).',
  use: 'The use of the key.',
  user_agent: 'The user agent of the browser or program; null if unknown.',
  user_code: 'The code that a person compares and enters.',
  userVerification: 'Whether the authenticator verifies the user (WebAuthn).',
  valid_from: 'When it becomes valid.',
  'warnings.verification': 'The result of comparing the name with the registered name.',
  verification: 'The last check of the name against the registered name.',
  'PaymentReceipt.version': 'The version of the receipt’s format.',
  'SpendingPolicy.version': 'The version, which increases by one with each change.',
  'UpdateSpendingPolicy.version': 'The version that you have read. Another version is answered with 409.',
  'policies.version': 'The version of the policy that decided.',
  'policy_versions.version': 'The version of the policy that decided.',
  via: 'How the decision was made: with a credential, a signature or a passkey.',
  'query.wallet_address': 'Only accounts that this wallet can sign in to.',
  wallet_address: 'The invited wallet; null if an email address is invited.',
  workspace: 'The workspace.',
  workspace_id: 'The ID of the workspace; null if the record belongs only to the account.',
  x: 'The key or its first coordinate, in base64url.',
}

/** Bare names whose words describe a request's property as well. A request otherwise needs words of its own. */
export const wordsOfRequests: ReadonlySet<string> = new Set([
  'account_reference',
  'account_reference_required',
  'address',
  'beneficiary_ids',
  'clientDataJSON',
  'description',
  'direction',
  'display_name',
  'expires_at',
  'frozen',
  'grant_id',
  'id',
  'legal_name',
  'mandate_id',
  'max_payments',
  'max_per_payment_minor',
  'name',
  'narrative',
  'note',
  'payment_types',
  'rawId',
  'reason',
  'response',
  'signature',
  'spending_controls',
  'terms',
  'time_zone',
  'type',
  'valid_from',
  'workspace_id',
])

/** `parent`: the property that contains the object. */
type Place = { owner: string; parent: string; isRequest: boolean }

const wordsFor = ({ owner, parent, isRequest }: Place, name: string): string | undefined =>
  words[`${parent}.${name}`] ?? words[`${owner}.${name}`] ?? (isRequest && !wordsOfRequests.has(name) ? undefined : words[name])

/** Whether the property or its schema has a description. */
export const isDescribed = (schema: Json, schemas: Json): boolean => {
  const named = nameIn(schema)
  return schema.description !== undefined || (named !== undefined && objectAt(schemas, named).description !== undefined)
}

/** Whether a value of the schema can be null. */
export const allowsNull = (schema: Json, schemas: Json): boolean => {
  const named = nameIn(schema)
  if (named !== undefined) return allowsNull(objectAt(schemas, named), schemas)
  const branches = schema.anyOf ?? schema.oneOf
  if (Array.isArray(branches)) return branches.some((branch) => isObject(branch) && allowsNull(branch, schemas))
  return [schema.type].flat().includes('null')
}

const describeAll = (node: unknown, place: Place, schemas: Json): unknown => {
  if (Array.isArray(node)) return node.map((item) => describeAll(item, place, schemas))
  if (!isObject(node)) return node
  const { properties, ...others } = node
  const changed = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, describeAll(value, place, schemas)]))
  if (!isObject(properties)) return changed
  return {
    ...changed,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, value]) => {
        const schema = describeAll(value, { ...place, parent: name }, schemas)
        const text = wordsFor(place, name)
        if (!isObject(schema) || text === undefined || isDescribed(schema, schemas)) return [name, schema]
        const description = allowsNull(schema, schemas) ? text : text.replace(/; null [^.]*/, '')
        return [name, { ...schema, description }]
      }),
    ),
  }
}

/** Names of the schemas that a value refers to, directly or through others. */
const schemasIn = (value: unknown, schemas: Json, found = new Set<string>()): Set<string> => {
  rewrite(value, (object) => {
    const name = nameIn(object)
    if (name !== undefined && !found.has(name)) schemasIn(schemas[name], schemas, found.add(name))
    return object
  })
  return found
}

const describeParameters = (operation: Json): Json =>
  Array.isArray(operation.parameters)
    ? {
        ...operation,
        parameters: operation.parameters.map((parameter: unknown) => {
          if (!isObject(parameter) || parameter.description !== undefined) return parameter
          const own = objectAt(parameter, 'schema').description
          const description = own ?? words[`query.${parameter.name}`] ?? words[String(parameter.name)]
          return description === undefined ? parameter : { ...parameter, description }
        }),
      }
    : operation

/** Describes each property and parameter that has no description. */
export const describe = (document: Json): Json => {
  const components = objectAt(document, 'components')
  const schemas = objectAt(components, 'schemas')
  const bodies: unknown[] = []
  changeOperations(document, (operation) => {
    bodies.push(operation.requestBody)
    return operation
  })
  const requested = schemasIn(bodies, schemas)
  const placeOf = (owner: string, isRequest: boolean): Place => ({ owner, parent: '', isRequest })
  const described = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, describeAll(schema, placeOf(name, requested.has(name)), schemas)]),
  )
  const whole = { ...document, components: { ...components, schemas: described } }
  return changeOperations(whole, ({ requestBody, ...operation }) => ({
    ...(describeAll(describeParameters(operation), placeOf('answer', false), schemas) as Json),
    ...(requestBody !== undefined && { requestBody: describeAll(requestBody, placeOf('body', true), schemas) }),
  }))
}
