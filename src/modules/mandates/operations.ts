import type { OperationTexts } from '../../http/operation-text.ts'

export const mandatesOperations = {
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
} satisfies OperationTexts
