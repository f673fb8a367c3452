import type { OperationTexts } from '../types.ts'

export const controlOperations: OperationTexts = {
  'policies.create': {
    summary: 'Create a spending policy',
    text: 'Adds a rule to the workspace: limits per payment, day and month, an amount from which approval is needed, and what it applies to. It takes effect at once and can only tighten: all policies that apply are evaluated, and the strictest wins. Try it with the simulation first.',
  },
  'policies.list': {
    summary: 'List spending policies',
    text: 'The policies of the workspace. Archived ones are left out unless they are requested.',
  },
  'policies.get': { summary: 'Read a spending policy', text: 'One policy with its version, which a change of it has to name.' },
  'policies.update': {
    summary: 'Change a spending policy',
    text: 'Fields that are left out stay, `null` takes a limit away. `version` must be the one that was read: two people who change it at once do not overwrite each other (409). Payments that wait for approval are decided anew before they are sent.',
  },
  'policies.archive': {
    summary: 'Archive a spending policy',
    text: 'Ends a policy. Decisions that it took part in keep naming the version that decided.',
  },
  'policies.simulate': {
    summary: 'Ask how a payment would be decided',
    text: 'The same evaluation as for a payment, for this caller and this moment, with nothing written: whether it would pass, who would have to approve, what limits it, possible duplicates, and what would let it pass. With `policy` as if that policy existed as well; with `replay_days` that policy is run over the payments of the past.',
  },
  'approvals.list': {
    summary: 'List approvals',
    text: 'Payments that wait for a decision, and those that were decided; `?status=pending` is what there is to do.',
  },
  'approvals.get': {
    summary: 'Read an approval',
    text: 'The requested payments, their decisions, the messages to sign, and the context that a person needs to decide.',
  },
  'approvals.decide': {
    summary: 'Approve or reject a payment',
    text: 'Decides with a credential that has `approval.decide`. Under separation of duties the initiator of the payment cannot, and neither can a credential of the lineage that did. One rejection rejects; the last approval that was needed sends the payment. The same decision again gives the same answer.',
  },
  'approvals.message': {
    summary: 'Get the message to sign',
    text: 'The canonical text for deciding by signature: readable, written by the server when the approval was created. Sign it exactly as it is.',
  },
  'approvals.decide_by_signature': {
    summary: 'Decide by the signature of a wallet',
    text: 'No credential is needed: the signature over the canonical message (EIP-191) is checked against the wallets that may decide. A contract wallet names its `address`.',
  },
  'mandates.prepare': {
    summary: 'Get the text of a mandate to sign',
    text: 'Turns terms into the readable text and the nonce that the wallet signs. Nothing is stored about the terms, and no account is looked up.',
    body: 'PrepareMandate',
  },
  'mandates.create': {
    summary: 'Create a mandate by signature',
    text: 'A wallet agrees in advance to payments within these terms. The account is found by the wallet. A payment that names the mandate and fits it has the approval of its signer; hard limits still hold. The same request again gives the same mandate.',
    body: 'CreateMandate',
  },
  'mandates.list': { summary: 'List mandates', text: 'The mandates of the workspace, with what has been spent of each.' },
  'mandates.get': { summary: 'Read a mandate', text: 'Its terms, its signature, and how much of it is left.' },
  'mandates.revocation_message': {
    summary: 'Get the text that revokes a mandate',
    text: 'For revoking by signature: what the wallet has to sign.',
  },
  'mandates.revoke': {
    summary: 'Revoke a mandate',
    text: 'Ends it at once: by a credential with `mandate.manage`, or without one by the signature of a wallet of the account. Payments that wait are decided without it.',
    body: 'RevokeMandate',
  },
  'api_keys.create': {
    summary: 'Create an API key',
    text: 'The key is shown in this answer and never again. Its spending controls apply to everything paid with it. A key that is created with a key is its child: it never has more permissions or higher limits.',
    body: 'CreateApiKey',
  },
  'api_keys.list': { summary: 'List API keys', text: 'The keys of the account; a key sees itself and its descendants only.' },
  'api_keys.get': { summary: 'Read an API key', text: 'Its state, grant, controls, usage and headroom. Never the key itself.' },
  'api_keys.update': {
    summary: 'Change an API key',
    text: 'Its name and its spending controls. A field that is left out stays, `null` removes a limit; no key changes its own controls.',
    body: 'UpdateApiKey',
  },
  'api_keys.rotate': {
    summary: 'Replace an API key',
    text: 'A new key on the same grant: limits and usage stay. With `overlap_seconds` the old key works until the new one is deployed everywhere.',
    body: 'RotateApiKey',
  },
  'api_keys.revoke': {
    summary: 'Revoke an API key',
    text: 'Takes effect with the next request, for its descendants too. Doing it again gives the same answer.',
  },
  'grants.list': {
    summary: 'List grants',
    text: 'Everything that was delegated by the account: to API keys and to OAuth clients.',
  },
  'grants.get': {
    summary: 'Read a grant',
    text: 'Its permissions, controls, usage, and the headroom that it and the grants above it leave.',
  },
  'grants.update': {
    summary: 'Change or freeze a grant',
    text: 'Tightens its controls, or stops all its payments with `{"frozen": true}` while it can still read. Takes effect at once.',
    body: 'UpdateGrant',
  },
  'grants.revoke': {
    summary: 'Revoke a grant',
    text: 'Ends it and everything that descends from it, at once: keys, access tokens and refresh tokens.',
  },
  'grants.revoke_all': {
    summary: 'Revoke all grants of a kind',
    text: 'The emergency stop for everything that was delegated: all API keys, or all OAuth clients.',
    body: 'RevokeAllGrants',
  },
  'workspace_grants.list': {
    summary: 'List all grants of the workspace',
    text: 'For owners: what any member has delegated in this workspace.',
  },
  'workspace_grants.revoke': {
    summary: "Revoke a member's grant",
    text: 'For owners: ends a grant that another member gave in this workspace, and its descendants.',
  },
}
