import { type Fact, factItemText, factTitle, isHeadline, namesSummary } from '../../../lib/approval-facts.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor, sumOf } from '../../../lib/money.ts'
import { oneLine, quoted } from '../../../lib/text.ts'
import type { NameSource, VerificationStatus } from '../../../lib/verification.ts'
import { isNameWarning, nameWarning } from '../../../policy/explain.ts'
import { type FactLine, isFarFromLast, nameFacts } from '../../../policy/facts.ts'

export type CommonFacts = {
  domain: string
  approvalId: Uuid
  currency: string
  requester: string
  workspace: string
  /** Whether the balance that pays is shared with the owner's account. */
  sharedBalance: boolean
  /** The only people who may decide; empty if every approver may. */
  approverNames: readonly string[]
  policyVersions: readonly { id: Uuid; version: number }[]
  nonce: string
  /** When the payment is sent; null: as soon as it is approved. */
  executeAt: Date | null
  expiresAt: Date
}

/**
 * Facts in the text that a wallet holder signs: everything that the decision depends on. Anyone with the approval's id may read
 * the text without signing in, so it contains no balance, email address or full destination.
 */
type ApprovalFacts = CommonFacts & {
  paymentId: Uuid
  amountMinor: Minor
  feeMinor: Minor | null
  beneficiaryName: string
  rail: string
  destinationMask: string
  /** A keyed digest: it binds the destination without revealing it. */
  destinationDigest: string
  /** Warnings of the decision, one sentence each. */
  warnings: readonly string[]
  accountReference: string | null
  narrative: string | null
} & ReportedName

/** Format version of the text, stored with it. A text signed in an older format remains verifiable, byte for byte. */
export const textVersion = 1

const verbs = { approve: 'APPROVE', reject: 'REJECT' } as const

const verdictWords: Readonly<Record<VerificationStatus, string>> = {
  match: 'matches',
  close_match: 'similar, not the same',
  no_match: 'DOES NOT MATCH',
  unavailable: 'not available',
  unverified: 'not checked',
}

/** `isBeingChecked`: the first name check has no result yet. */
export type ReportedName = {
  reportedName: string | null
  verification: VerificationStatus
  isBeingChecked?: boolean
  nameSource: NameSource | null
}

/** Labels of the lines that change when a name check ends. */
const labels = {
  renewed: 'Text updated at: ',
  name: 'Registered name: ',
  mismatches: 'Payees with a different registered name: ',
  beingChecked: 'Registered names being checked: ',
}
/** Texts from 0.3.0 and earlier keep their labels, so that a process of such a release can still renew them. */
const earlierLabels: typeof labels = {
  renewed: 'Text made again: ',
  name: 'Name at the rail: ',
  mismatches: "Payees whose name differs from the rail's: ",
  beingChecked: 'Names at the rail being checked: ',
}
export const checkingLabels = [labels.beingChecked, earlierLabels.beingChecked] as const
const warningLabel = 'Warning: '

const payerLines = {
  shared: "Paid from: the balance shared with the owner's account",
  own: "Paid from: this workspace's own balance",
}

const labelsOf = (lines: readonly string[]): typeof labels =>
  lines.some((line) => line.startsWith(earlierLabels.name) || line.startsWith(earlierLabels.mismatches)) ? earlierLabels : labels

/** Payments go to a number, so an approver must see which name is registered for it. */
export const registeredName = ({ reportedName, verification, isBeingChecked, nameSource }: ReportedName): string => {
  if (isBeingChecked) return 'being checked'
  if (reportedName !== null) return `${oneLine(reportedName)} (${verdictWords[verification]})`
  return nameSource === 'daily_limit' ? 'not checked: daily limit' : verdictWords[verification]
}

/** The line with the fee; none if no fee is charged. */
const feeLine = (label: string, fee: Minor | null, currency: string): string[] =>
  fee === null || fee === 0n ? [] : [`${label}: ${displayAmount(fee, currency)}`]

/** Lines for people, with the warnings below the requester, and lines for machines, with ids, amounts and digests. */
type TextParts = { subject: string; peopleLines: string[]; warningLines?: string[]; purpose: string; machineLines: string[] }

const textOf = (
  decision: 'approve' | 'reject',
  facts: CommonFacts,
  { subject, peopleLines, warningLines = [], purpose, machineLines }: TextParts,
): string =>
  [
    `${facts.domain} asks you to ${verbs[decision]} ${subject}.`,
    '',
    ...peopleLines,
    `Requested by: ${oneLine(facts.requester)}`,
    `Workspace: ${oneLine(facts.workspace)}`,
    facts.sharedBalance ? payerLines.shared : payerLines.own,
    ...(facts.approverNames.length > 0 ? [`Only these people may decide: ${facts.approverNames.map(quoted).join(', ')}`] : []),
    ...warningLines,
    '',
    `Purpose: ${purpose}`,
    `Decision: ${decision}`,
    `Approval: ${formatId('approval', facts.approvalId)}`,
    ...machineLines,
    `Policies: ${facts.policyVersions.map(({ id, version }) => `${formatId('policy', id)}@${version}`).join(' ') || 'none'}`,
    `Nonce: ${facts.nonce}`,
    `Expires: ${isoTime(facts.expiresAt)}`,
  ].join('\n')

/** The canonical message (EIP-191 text), stored and verified byte for byte. A changed registered name replaces it. */
export const approvalMessage = (decision: 'approve' | 'reject', facts: ApprovalFacts): string =>
  textOf(decision, facts, {
    subject: 'a payment',
    peopleLines: [
      `Amount: ${displayAmount(facts.amountMinor, facts.currency)}`,
      ...feeLine('Fee', facts.feeMinor, facts.currency),
      `Beneficiary: ${oneLine(facts.beneficiaryName)}`,
      `Destination: ${facts.rail} ${facts.destinationMask}`,
      `${labels.name}${registeredName(facts)}`,
      ...(facts.accountReference === null ? [] : [`Account reference: ${oneLine(facts.accountReference)}`]),
      ...(facts.narrative ? [`For: ${oneLine(facts.narrative)}`] : []),
      ...(facts.executeAt ? [`Scheduled for: ${isoTime(facts.executeAt)}`] : []),
    ],
    warningLines: facts.warnings.map((warning) => `${warningLabel}${oneLine(warning)}`),
    purpose: 'payment approval',
    machineLines: [
      `Payment: ${formatId('payment', facts.paymentId)}`,
      `Amount in minor units: ${formatMinor(facts.amountMinor)} ${facts.currency}`,
      `Destination digest: ${facts.destinationDigest}`,
    ],
  })

const linesOf = (text: string): string[] =>
  text.split('\n').filter((line) => !line.startsWith(labels.renewed) && !line.startsWith(earlierLabels.renewed))

export const isSameText = (one: string, other: string): boolean => linesOf(one).join('\n') === linesOf(other).join('\n')

/** The text with some lines changed and a new time, so that a new text never equals one that was signed before. */
const renewed = (message: string, at: Date, change: (line: string) => string[]): string => {
  const lines = linesOf(message)
  const { renewed: label } = labelsOf(lines)
  return lines.flatMap((line) => (line.startsWith('Nonce: ') ? [line, `${label}${isoTime(at)}`] : change(line))).join('\n')
}

/** The same text with the current registered name and its warning. A name that does not match always has a warning. */
export const withRegisteredName = (message: string, name: ReportedName, at: Date): string => {
  const isAboutName = (line: string) => line.startsWith(warningLabel) && isNameWarning(line.slice(warningLabel.length))
  const lines = linesOf(message)
  const { name: label } = labelsOf(lines)
  const needsWarning = name.verification === 'no_match' || (lines.some(isAboutName) && name.verification !== 'match')
  const { verification, reportedName } = name
  const anchor = ['Only these people may decide: ', 'Paid from: '].find((one) => lines.some((line) => line.startsWith(one)))
  const warning = needsWarning ? [`${warningLabel}${oneLine(nameWarning(verification, reportedName))}`] : []
  return renewed(message, at, (line) => {
    if (isAboutName(line)) return []
    if (line.startsWith(label)) return [`${label}${registeredName(name)}`]
    return line.startsWith(anchor ?? 'Workspace: ') ? [line, ...warning] : [line]
  })
}

/** The same text, paid from the workspace's own balance. */
export const withOwnBalance = (message: string, at: Date): string =>
  renewed(message, at, (line) => [line === payerLines.shared ? payerLines.own : line])

export type BatchLine = FactLine & { rail: string; destinationMask: string } & ReportedName

type BatchFacts = CommonFacts & {
  batchId: Uuid
  name: string | null
  merkleRoot: string
  lines: readonly BatchLine[]
  facts: readonly Fact[]
  feesMinor: Minor | null
}

const largestShown = 5

/** Counts each payee once: a batch may pay a payee several times. */
const payeesIn = (lines: readonly Pick<BatchLine, 'beneficiaryId'>[]): number =>
  new Set(lines.map(({ beneficiaryId }) => beneficiaryId)).size

const byRail = (lines: readonly BatchLine[], currency: string): string =>
  [...Map.groupBy(lines, ({ rail }) => rail)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([rail, own]) => `${rail} ${own.length} (${displayAmount(sumOf(own), currency)})`)
    .join(', ')

const maxNamed = 10

export type NamedLine = Pick<BatchLine, 'beneficiaryId' | 'payeeName' | 'amountMinor'> & ReportedName

const summaryLabel = 'Names: '

const registeredNames = (lines: readonly NamedLine[], currency: string, used = labels): string[] => {
  const others = Map.groupBy(
    lines.filter(({ verification }) => verification === 'no_match'),
    ({ beneficiaryId }) => beneficiaryId,
  )
  const checking = payeesIn(lines.filter(({ isBeingChecked }) => isBeingChecked))
  const summary = namesSummary(nameFacts(lines), lines.length)
  return [
    ...(summary === null ? [] : [summary]),
    `${used.mismatches}${others.size}`,
    ...[...others.values()].slice(0, maxNamed).flatMap((own) => {
      const [line] = own
      return line ? [`- ${oneLine(line.payeeName)}: ${registeredName(line)}, ${displayAmount(sumOf(own), currency)}`] : []
    }),
    ...(checking === 0 ? [] : [`${used.beingChecked}${checking}`]),
  ]
}

/** Warnings, each with its payments; registered names have their own lines. */
const warningsIn = (facts: readonly Fact[], count: number, currency: string): string[] => {
  const money = (minor: string) => displayAmount(BigInt(minor), currency)
  return facts
    .filter((fact) => isHeadline(fact) && fact.type !== 'name_mismatch')
    .flatMap((fact) => [
      `${warningLabel}${factTitle(fact, count)}`,
      ...fact.items.map((one) => `- ${factItemText(fact, one, money)}`),
    ])
}

export const withRegisteredNames = (message: string, lines: readonly NamedLine[], currency: string, at: Date): string => {
  const used = labelsOf(linesOf(message))
  const names = registeredNames(lines, currency, used)
  let isInsideNames = false
  return renewed(message, at, (line) => {
    if (line.startsWith(summaryLabel)) return []
    isInsideNames =
      line.startsWith(used.mismatches) || (isInsideNames && (line.startsWith('- ') || line.startsWith(used.beingChecked)))
    if (line.startsWith(used.mismatches)) return names
    return isInsideNames || /^Warning, \d+ times: name mismatch$/.test(line) ? [] : [line]
  })
}

export const batchApprovalMessage = (decision: 'approve' | 'reject', facts: BatchFacts): string => {
  const { lines, currency } = facts
  const largest = lines.toSorted((one, other) => Number(other.amountMinor - one.amountMinor))
  return textOf(decision, facts, {
    subject: 'a batch of payments',
    peopleLines: [
      `Total: ${displayAmount(sumOf(lines), currency)}`,
      ...feeLine('Fees', facts.feesMinor, currency),
      `Payments: ${lines.length}`,
      `Payees: ${payeesIn(lines)}`,
      `By rail: ${byRail(lines, currency)}`,
      `Payees never paid before: ${payeesIn(lines.filter((line) => line.lastAmountMinor === null))}`,
      ...registeredNames(lines, currency),
      `Amounts far from the last payment: ${lines.filter(isFarFromLast).length}`,
      ...warningsIn(facts.facts, lines.length, currency),
      'Largest payments:',
      ...largest
        .slice(0, largestShown)
        .map(
          (line) =>
            `- ${displayAmount(line.amountMinor, currency)} to ${oneLine(line.payeeName)}, ${line.rail} ${line.destinationMask}`,
        ),
      ...(facts.executeAt ? [`Scheduled for: ${isoTime(facts.executeAt)}`] : []),
      ...(facts.name === null ? [] : [`Name: ${oneLine(facts.name)}`]),
    ],
    purpose: 'payment batch approval',
    machineLines: [
      `Batch: ${formatId('payment_batch', facts.batchId)}`,
      `Total in minor units: ${formatMinor(sumOf(lines))} ${currency}`,
      `Merkle root: ${facts.merkleRoot}`,
    ],
  })
}
