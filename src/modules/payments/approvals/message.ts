import { isoTime } from '../../../http/wire.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../../lib/money.ts'
import { cleanText, isolated } from '../../../lib/text.ts'

/**
 * What a wallet holder sees and signs. It contains everything that the decision depends on, so nothing can be exchanged afterwards. Anyone
 * with the approval's id may read it without signing in, so it contains nothing else: no balance, no e-mail, no full destination.
 */
export type ApprovalFacts = {
  domain: string
  approvalId: Uuid
  paymentId: Uuid
  amountMinor: Minor
  currency: string
  beneficiaryName: string
  rail: string
  destinationMask: string
  /** A keyed digest: binds the destination without revealing it. */
  destinationDigest: string
  accountReference: string | null
  narrative: string | null
  requester: string
  workspace: string
  policyVersions: readonly { id: Uuid; version: number }[]
  nonce: string
  /** When it is sent; null for as soon as it is approved. */
  executeAt: Date | null
  expiresAt: Date
}

export const verbs = { approve: 'APPROVE', reject: 'REJECT' } as const

/** Names are other people's text: on one line, and apart from the text around them. */
export const oneLine = (text: string): string => isolated(cleanText(text))

/** The canonical message (EIP-191 text). It is built once, when the approval is created, stored, and verified byte for byte. */
export const approvalMessage = (decision: 'approve' | 'reject', facts: ApprovalFacts): string =>
  [
    `${facts.domain} asks you to ${verbs[decision]} a payment.`,
    '',
    `Amount: ${displayAmount(facts.amountMinor, facts.currency)}`,
    `Beneficiary: ${oneLine(facts.beneficiaryName)}`,
    `Destination: ${facts.rail} ${facts.destinationMask}`,
    ...(facts.accountReference === null ? [] : [`Account reference: ${oneLine(facts.accountReference)}`]),
    ...(facts.narrative ? [`For: ${oneLine(facts.narrative)}`] : []),
    ...(facts.executeAt ? [`Sent at: ${isoTime(facts.executeAt)}`] : []),
    `Requested by: ${oneLine(facts.requester)}`,
    `Workspace: ${oneLine(facts.workspace)}`,
    '',
    `Purpose: payment approval`,
    `Decision: ${decision}`,
    `Approval: ${formatId('approval', facts.approvalId)}`,
    `Payment: ${formatId('payment', facts.paymentId)}`,
    `Amount in minor units: ${formatMinor(facts.amountMinor)} ${facts.currency}`,
    `Destination digest: ${facts.destinationDigest}`,
    `Policies: ${facts.policyVersions.map(({ id, version }) => `${formatId('policy', id)}@${version}`).join(' ') || 'none'}`,
    `Nonce: ${facts.nonce}`,
    `Expires: ${isoTime(facts.expiresAt)}`,
  ].join('\n')
