import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../../lib/money.ts'
import { cleanText, isolated } from '../../../lib/text.ts'
import type { NameSource, VerificationStatus } from '../../../lib/verification.ts'
import { isNameWarning, nameWarning } from '../../../policy/warning-words.ts'

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
} & ReportedName

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

/** `isBeingChecked`: the rail was asked for the first time, and has not answered yet. */
export type ReportedName = {
  reportedName: string | null
  verification: VerificationStatus
  isBeingChecked?: boolean
  nameSource: NameSource | null
}

const nameLabel = 'Name at the rail: '

/** Numbers are paid, not names: who approves reads whose number it is, or that nobody knows. */
export const nameAtRail = ({ reportedName, verification, isBeingChecked = false, nameSource }: ReportedName): string =>
  isBeingChecked
    ? 'being checked'
    : reportedName === null
      ? nameSource === 'daily_limit'
        ? 'not checked: daily limit'
        : verdictWords[verification]
      : `${oneLine(reportedName)} (${verdictWords[verification]})`

/**
 * The canonical message (EIP-191 text). It is built when the approval is created, stored, and verified byte for byte; while the approval waits, a
 * name at the rail that changed makes a new one.
 */
export const approvalMessage = (decision: 'approve' | 'reject', facts: ApprovalFacts): string =>
  [
    `${facts.domain} asks you to ${verbs[decision]} a payment.`,
    '',
    `Amount: ${displayAmount(facts.amountMinor, facts.currency)}`,
    `Beneficiary: ${oneLine(facts.beneficiaryName)}`,
    `Destination: ${facts.rail} ${facts.destinationMask}`,
    `${nameLabel}${nameAtRail(facts)}`,
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

const madeLabel = 'Text made again: '
const warningLabel = 'Warning: '

/** Whether two texts of one decision say the same, whenever they were made. */
export const isSameText = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((text) => text.split('\n').filter((line) => !line.startsWith(madeLabel)))
  return a?.join('\n') === b?.join('\n')
}

/** A text with some of its lines changed, and the time at which it was made again: a text that is signed never returns. */
export const renewed = (message: string, at: Date, change: (line: string) => string[]): string =>
  message
    .split('\n')
    .filter((line) => !line.startsWith(madeLabel))
    .flatMap((line) => (line.startsWith('Nonce: ') ? [line, `${madeLabel}${isoTime(at)}`] : change(line)))
    .join('\n')

/** The same text with what the rail reports now. A decision's warning about the name is replaced, and another name is always one. */
export const withNameAtRail = (message: string, name: ReportedName, at: Date): string => {
  const isAboutName = (line: string) => line.startsWith(warningLabel) && isNameWarning(line.slice(warningLabel.length))
  const warned = message.split('\n').some(isAboutName)
  const isOdd = name.verification === 'no_match' || (warned && name.verification !== 'match')
  const { verification, reportedName } = name
  const warning = isOdd ? [`${warningLabel}${oneLine(nameWarning(verification, reportedName))}`] : []
  return renewed(message, at, (line) => {
    if (isAboutName(line)) return []
    if (line.startsWith(nameLabel)) return [`${nameLabel}${nameAtRail(name)}`]
    return line.startsWith('Workspace: ') ? [line, ...warning] : [line]
  })
}
