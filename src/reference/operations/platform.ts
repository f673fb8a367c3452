import type { OperationTexts } from '../types.ts'

export const platformOperations: OperationTexts = {
  'proof.keys': {
    summary: 'Read the keys that sign receipts',
    text: 'A JSON Web Key Set (RFC 7517). Retired keys stay in it with the time of their end, so that old receipts can be checked.',
  },
  'proof.log': {
    summary: 'Read the head of the sealed log',
    text: 'The audit log is sealed in a Merkle tree (RFC 6962). Keep a head that you have seen: with its size as `from` the answer proves that the log has only grown since.',
  },
  'oauth.server_metadata': {
    summary: 'Find the authorization server',
    text: 'RFC 8414: endpoints, grant types and scopes. OAuth client libraries read this by themselves.',
  },
  'oauth.resource_metadata': {
    summary: 'Find the issuer of tokens for this API',
    text: 'RFC 9728: which authorization server and which scopes belong to this API. `WWW-Authenticate` points here.',
  },
  'oauth.mcp_resource_metadata': {
    summary: 'Find the issuer of tokens for the MCP server',
    text: 'RFC 9728, for the MCP endpoint of this service: which authorization server and which scopes belong to it.',
  },
  'oauth.authorize': {
    summary: 'Ask a person for consent',
    text: 'Where a client sends the browser. PKCE with S256 is required. A valid request leads on to the consent page, and from there back to the redirect URI.',
  },
  'oauth.token': {
    summary: 'Get or refresh tokens',
    text: 'Redeems a code, a device code or a refresh token. A refresh token works once. Using it again revokes the grant. The body is a form.',
    body: 'OAuthTokenRequest',
  },
  'oauth.revoke': {
    summary: 'Revoke a token',
    text: 'RFC 7009. Revoking an access token or a refresh token ends its grant. Unknown tokens are answered in the same way.',
    body: 'OAuthRevocationRequest',
  },
  'oauth.introspect': {
    summary: 'Introspect a token',
    text: 'RFC 7662, for resource servers: whether a token is active, whose it is, and its scopes and spending controls.',
    body: 'OAuthIntrospectionRequest',
  },
  'oauth.push': {
    summary: 'Push an authorization request',
    text: 'RFC 9126: sends the parameters first, so that the browser has only a short reference and cannot change them.',
    body: 'OAuthPushRequest',
  },
  'oauth.device_authorization': {
    summary: 'Start the flow for a device',
    text: 'RFC 8628, for agents without a browser: a code that the person enters at the device page while the client polls for the token. PKCE is required here too.',
    body: 'OAuthDeviceRequest',
  },
  'oauth.register': {
    summary: 'Register a client',
    text: 'RFC 7591. A public client gets an id; a confidential one also a secret, shown in this answer only.',
    body: 'OAuthClientMetadata',
  },
  'oauth.get_authorization': {
    summary: 'Read the request of a client',
    text: 'For the consent page: client, scopes, requested controls, and where the answer goes.',
  },
  'oauth.decide_authorization': {
    summary: 'Consent or refuse',
    text: 'Only a person decides, and can only reduce what was requested. Returns the next address of the browser.',
    body: 'OAuthDecision',
  },
  'oauth.get_device': {
    summary: 'Read the request of a device',
    text: 'For the device page: the request with the code that the person typed.',
  },
  'oauth.decide_device': {
    summary: 'Consent to a device or refuse',
    text: 'As for a browser; the device gets its token with its next poll.',
    body: 'OAuthDeviceDecision',
  },
  'admin.list_accounts': { summary: 'Find accounts', text: 'By id, e-mail, wallet or status.' },
  'admin.get_account': { summary: 'Read an account', text: 'With its identities and balance.' },
  'admin.update_account': {
    summary: 'Freeze an account or switch a capability',
    text: 'Freezes an account, closes one without a balance, or disables top-ups, payments, keys or OAuth for it. The reason is for the audit log.',
    body: 'AdministerAccount',
  },
  'admin.suspend_workspace': {
    summary: 'Suspend a workspace',
    text: 'Freezes it so that only an administrator can end the freeze.',
    body: 'SuspendWorkspace',
  },
  'admin.reinstate_workspace': { summary: 'Reinstate a workspace', text: 'Ends the suspension.', body: 'ReinstateWorkspace' },
  'admin.list_payments': {
    summary: 'Find payments that need a person',
    text: 'With `status=unknown`: those whose outcome the rail has not reported.',
  },
  'admin.resolve_payment': {
    summary: 'Resolve an unknown payment',
    text: 'With evidence from the provider that a person has read: posts the payment, or releases the hold. Without evidence leave it `unknown`.',
    body: 'ResolvePayment',
  },
  'admin.create_adjustment': {
    summary: 'Request a correction of a balance',
    text: 'A ledger adjustment with its reason. Above an amount a second administrator must confirm it. An administrator never adjusts their own account.',
    body: 'CreateAdjustment',
  },
  'admin.list_adjustments': {
    summary: 'List adjustments',
    text: 'Those that were posted, and those that wait for a second administrator.',
  },
  'admin.get_adjustment': { summary: 'Read an adjustment', text: 'Who created it, why, and who decided.' },
  'admin.confirm_adjustment': {
    summary: 'Confirm an adjustment',
    text: 'Posts it. Only another administrator than the one who created it can.',
  },
  'admin.reject_adjustment': {
    summary: 'Reject an adjustment',
    text: 'Nothing moves. The reason is for the audit log.',
    body: 'RejectAdjustment',
  },
  'admin.list_suspense': {
    summary: 'List money in suspense',
    text: 'Money that a provider moved and that could not be booked, with what it seems to be about. A person must resolve each.',
  },
  'admin.resolve_suspense': {
    summary: 'Resolve money in suspense',
    text: 'Records the result: an adjustment gave the money to an account, the provider reversed it, or it was explained. The note is for the audit log.',
    body: 'ResolveSuspense',
  },
  'admin.resolve_suspense_items': {
    summary: 'Resolve several items of suspense',
    text: 'One result and one note for all of them, as one change: where one is resolved already or unknown, none is resolved. Each item has its own row in the audit log.',
    body: 'ResolveSuspenseItems',
  },
  'admin.assign_suspense': {
    summary: 'Give money in suspense to its account',
    text: 'For a deposit under a reference that nothing here has, once the sender is known: by `account_id`, or by the `topup_id` that the payer meant, which it ends. Never to the administrator, and above the sum that needs a second administrator only by an adjustment.',
    body: 'AssignSuspense',
  },
  'admin.list_reconciliations': {
    summary: 'List reconciliations',
    text: 'Every comparison of the books with a statement of a provider, with how much matched.',
  },
  'admin.upload_statement': {
    summary: 'Compare a statement with the books',
    text: 'For a statement that a person has exported from a provider: the answer says how much matched, and the differences are listed. It is evidence of nothing, so nothing is booked, credited or ended by it; the command `reconcile` on the server does that. The same content is compared once.',
    body: 'UploadStatement',
  },
  'admin.list_differences': {
    summary: 'List differences with statements',
    text: 'The differences between the books and a statement, each with its likely reason and what to do. Nothing is booked automatically.',
  },
  'admin.resolve_difference': {
    summary: 'Close a difference with a statement',
    text: 'Records how a person has explained or corrected it. With `accept` it ends the payment as the statement shows; otherwise it moves no money of an account, and a line that was offered as a payment goes to suspense.',
    body: 'ResolveDifference',
  },
  'admin.resolve_differences': {
    summary: 'Close several differences',
    text: 'One note for all of them, as one change: where one is resolved already or unknown, none is closed. Outcomes that they offer are not accepted. Each difference has its own row in the audit log.',
    body: 'ResolveDifferences',
  },
  'admin.trial_balance': {
    summary: 'Read the trial balance',
    text: 'Every ledger account with its debits and credits, which are equal in total.',
  },
  'admin.audit_log': {
    summary: 'Read the audit log',
    text: 'Who did what, when, with which credential: append-only, filtered by account, workspace, subject, action and time.',
  },
  'service.health': { summary: 'Check liveness', text: 'The process is running. Depends on nothing else.' },
  'service.ready': {
    summary: 'Check readiness',
    text: 'The database answers, and its migrations are those of this release.',
  },
}
