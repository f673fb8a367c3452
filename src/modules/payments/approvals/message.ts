import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../../lib/money.ts'
import { cleanText, isolated } from '../../../lib/text.ts'
import type { VerificationStatus } from '../../../lib/verification.ts'

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
  /** The name that the rail reports for the destination, and what comparing it says. */
  reportedName: string | null
  verification: VerificationStatus
  /** What the decision warns of, a sentence each. */
  warnings: readonly string[]
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

const verdictWords: Readonly<Record<VerificationStatus, string>> = {
  match: 'matches',
  close_match: 'similar, not the same',
  no_match: 'DOES NOT MATCH',
  unavailable: 'none was given',
  unverified: 'was not asked for',
}

/** Numbers are paid, not names: who approves reads whose number it is, or that nobody knows. */
export const nameAtRail = ({ reportedName, verification }: Pick<ApprovalFacts, 'reportedName' | 'verification'>): string =>
  reportedName === null ? verdictWords[verification] : `${oneLine(reportedName)} (${verdictWords[verification]})`

/** The canonical message (EIP-191 text). It is built once, when the approval is created, stored, and verified byte for byte. */
export const approvalMessage = (decision: 'approve' | 'reject', facts: ApprovalFacts): string =>
  [
    `${facts.domain} asks you to ${verbs[decision]} a payment.`,
    '',
    `Amount: ${displayAmount(facts.amountMinor, facts.currency)}`,
    `Beneficiary: ${oneLine(facts.beneficiaryName)}`,
    `Destination: ${facts.rail} ${facts.destinationMask}`,
    `Name at the rail: ${nameAtRail(facts)}`,
    ...(facts.accountReference === null ? [] : [`Account reference: ${oneLine(facts.accountReference)}`]),
    ...(facts.narrative ? [`For: ${oneLine(facts.narrative)}`] : []),
    ...(facts.executeAt ? [`Sent at: ${isoTime(facts.executeAt)}`] : []),
    `Requested by: ${oneLine(facts.requester)}`,
    `Workspace: ${oneLine(facts.workspace)}`,
    ...facts.warnings.map((warning) => `Warning: ${oneLine(warning)}`),
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
