import { compareNames, type NameVerdict } from '../../lib/names/compare.ts'
import { maskCharacter } from '../../lib/names/words.ts'
import type { RailName } from '../../lib/rail-names.ts'
import type { NameSource, VerificationStatus } from '../../lib/verification.ts'
import { payouts } from '../../rails/definitions.ts'
import type { NameAnswer } from '../../rails/rail.ts'

export type Verification = {
  verification: VerificationStatus
  reportedName: string | null
  nameSource: NameSource | null
  nameCheckedAt: Date | null
}

type Named = Verification & { paymentRail: RailName; displayName: string; legalName: string | null }

const givenName = ({ legalName, displayName }: Pick<Named, 'legalName' | 'displayName'>): string => legalName ?? displayName

const verdictOn = (payee: Named, name: string): NameVerdict | null =>
  compareNames(givenName(payee), name, payouts[payee.paymentRail].payee)

const maskedParts = (name: string): number => name.split(maskCharacter).length

/** A name that differs from the name reported earlier means that the number has a new holder. */
const withName = (payee: Named, { name, source, at }: { name: string; source: NameSource; at: Date }): Verification => {
  const { reportedName: before, paymentRail } = payee
  const verdict = verdictOn(payee, name)
  if (verdict === null) return withoutName(payee, at)
  const change = before === null ? null : compareNames(before, name, payouts[paymentRail].payee)
  const isOther = change === 'no_match'
  // M-PESA masks names before a payment but not in its result, so the less masked name is kept.
  const reportedName = before !== null && !isOther && maskedParts(before) < maskedParts(name) ? before : name
  const verification = isOther ? 'no_match' : (verdictOn(payee, reportedName) ?? verdict)
  return { verification, reportedName, nameSource: reportedName === before ? payee.nameSource : source, nameCheckedAt: at }
}

/** Keeps the known name if an answer has none. */
const withoutName = ({ verification, reportedName, nameSource }: Named, at: Date): Verification =>
  reportedName === null
    ? { verification: 'unavailable', reportedName, nameSource: null, nameCheckedAt: at }
    : { verification, reportedName, nameSource, nameCheckedAt: at }

export const verificationAfter = (payee: Named, answer: NameAnswer, source: NameSource, at: Date): Verification =>
  answer.kind === 'named' ? withName(payee, { name: answer.name, source, at }) : withoutName(payee, at)

export const verdictAfterRename = (payee: Named): VerificationStatus =>
  payee.reportedName === null ? payee.verification : (verdictOn(payee, payee.reportedName) ?? payee.verification)

const maxChecks = 6

/** Time of the next lookup after a failed one: 1, 2, 4 … minutes later. Null after `maxChecks` failures. */
export const nextCheckAt = (checks: number, at: Date): Date | null =>
  checks >= maxChecks ? null : new Date(at.getTime() + 60_000 * 2 ** (checks - 1))
