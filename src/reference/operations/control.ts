import type { OperationTexts } from '../types.ts'

export const controlOperations: OperationTexts = {
  'policies.create': {
    summary: 'Create a spending policy',
    text: 'Adds a rule to the workspace: limits per payment, day and month, an amount from which approval is needed, and what it applies to. It takes effect at once and can only make the rules stricter: all policies that apply are evaluated, and the strictest decides. Test it with the simulation first.',
  },
  'policies.list': {
    summary: 'List spending policies',
    text: 'The policies of the workspace. Archived ones are left out unless they are requested.',
  },
  'policies.get': { summary: 'Read a spending policy', text: 'One policy with its version, which a change must name.' },
  'policies.update': {
    summary: 'Change a spending policy',
    text: 'Fields that are left out keep their value, `null` removes a limit. `version` must be the one that was read, so that two people who change the policy at the same time do not overwrite each other (409). Payments that wait for approval are decided again before they are sent.',
  },
  'policies.archive': {
    summary: 'Archive a spending policy',
    text: 'Ends a policy. Decisions that it took part in still name the version that decided.',
  },
  'policies.simulate': {
    summary: 'Simulate a payment',
    text: 'Evaluates a payment for this caller now, and writes nothing: whether it would pass, how many people must approve, which limits apply, possible duplicates, and what would let it pass. With `policy` as if that policy existed as well; with `replay_days` that policy is applied to past payments.',
  },
  'approvals.list': {
    summary: 'List approvals',
    text: 'Payments that wait for a decision, and those that were decided. `?status=pending` lists those that still need one.',
  },
  'approvals.get': {
    summary: 'Read an approval',
    text: 'The requested payments, their decisions, the messages to sign, and the context that a person needs to decide.',
  },
  'approvals.decide': {
    summary: 'Approve or reject a payment',
    text: 'Decides with a credential that has `approval.decide`. With separation of duties the initiator of the payment cannot decide. A credential of the lineage that initiated it never can. One rejection rejects the payment; the last approval that was needed sends it. The same decision again gives the same answer.',
  },
  'approvals.message': {
    summary: 'Get the message to sign',
    text: 'The canonical text to sign: readable, and written by the server when the approval was created. Sign it exactly as it is.',
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
    text: 'A wallet approves payments within these terms in advance. The account is found by the wallet. A payment that names the mandate and fits it has the approval of its signer; limits still apply. The same request again gives the same mandate.',
    body: 'CreateMandate',
  },
  'mandates.list': { summary: 'List mandates', text: 'The mandates of the workspace, with what has been spent of each.' },
  'mandates.get': { summary: 'Read a mandate', text: 'Its terms, its signature, and how much of it is left.' },
  'mandates.revocation_message': {
    summary: 'Get the text that revokes a mandate',
    text: 'The text that the wallet must sign to revoke the mandate.',
  },
  'mandates.revoke': {
    summary: 'Revoke a mandate',
    text: 'Ends the mandate at once: with a credential that has `mandate.manage`, or without a credential by the signature of a wallet of the account. Payments that wait for approval are decided without it.',
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
    text: 'Its name and its spending controls. A field that is left out keeps its value, `null` removes a limit. A key cannot change its own controls.',
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
    text: 'Changes its controls, or freezes it with `{"frozen": true}`: it can still read, and cannot pay. Takes effect at once.',
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
    text: 'For owners and administrators of the workspace: what any member has delegated in it.',
  },
  'workspace_grants.freeze_all': {
    summary: 'Freeze all grants of the workspace',
    text: 'The stop for everything that acts for someone here: no key and no agent of any member moves money until it is unfrozen. They can still read, and payments already sent still arrive.',
  },
  'workspace_grants.freeze': {
    summary: "Freeze or unfreeze a member's grant",
    text: 'For owners and administrators of the workspace: stops a key or an agent of any member from moving money, or lets it again.',
    body: 'FreezeGrant',
  },
  'workspace_grants.revoke': {
    summary: "Revoke a member's grant",
    text: 'For owners and administrators of the workspace: ends a grant that another member gave in this workspace, and its descendants.',
  },
}
