import { invalidFields } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type DuplicateAnswer, duplicateAnswers, type NewPayeeAnswer, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { isHigher, isMilder } from '../../policy/limits.ts'
import type { Limits } from '../../policy/types.ts'

/** A grant's spending controls as they are stored; null = this grant sets no such limit. */
export type Controls = Limits & {
  paymentTypes: string[] | null
  beneficiaryIds: Uuid[] | null
  newPayees: NewPayeeAnswer | null
  onDuplicate: DuplicateAnswer | null
}

export const noControls: Controls = {
  perPaymentLimitMinor: null,
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  approvalThresholdMinor: null,
  paymentTypes: null,
  beneficiaryIds: null,
  newPayees: null,
  onDuplicate: null,
}

/** Undefined: unchanged. */
export type ControlsChange = { [Name in keyof Controls]?: Controls[Name] | undefined }

export const changeControls = (controls: Controls, change: ControlsChange): Controls => {
  const names = Object.keys(noControls) as (keyof Controls)[]
  return {
    ...noControls,
    ...Object.fromEntries(names.map((name) => [name, change[name] === undefined ? controls[name] : change[name]])),
  }
}

const allowsMore = (before: readonly string[] | null, after: readonly string[] | null): boolean =>
  before !== null && (after === null || after.some((item) => !before.includes(item)))

/** How each control can let pass what it did not before. */
const widened: { readonly [Name in keyof Controls]: (before: Controls, after: Controls) => boolean } = {
  perPaymentLimitMinor: (before, after) => isHigher(before.perPaymentLimitMinor, after.perPaymentLimitMinor),
  dailyLimitMinor: (before, after) => isHigher(before.dailyLimitMinor, after.dailyLimitMinor),
  monthlyLimitMinor: (before, after) => isHigher(before.monthlyLimitMinor, after.monthlyLimitMinor),
  approvalThresholdMinor: (before, after) => isHigher(before.approvalThresholdMinor, after.approvalThresholdMinor),
  paymentTypes: (before, after) => allowsMore(before.paymentTypes, after.paymentTypes),
  beneficiaryIds: (before, after) => allowsMore(before.beneficiaryIds, after.beneficiaryIds),
  newPayees: (before, after) => isMilder(newPayeeAnswers, before.newPayees, after.newPayees, 'require_approval'),
  onDuplicate: (before, after) => isMilder(duplicateAnswers, before.onDuplicate, after.onDuplicate, 'warn'),
}

export const widens = (before: Controls, after: Controls): boolean =>
  Object.values(widened).some((isWider) => isWider(before, after))

/** Answers that limit nothing. */
const harmless: readonly unknown[] = [null, 'allow', 'warn', 'confirm']

export const isLimited = (controls: Controls): boolean =>
  (Object.keys(noControls) as (keyof Controls)[]).some((name) => !harmless.includes(controls[name]))

/**
 * `account.manage` opens the whole account to its holder: a session that it leads to has no limits. So limits beside this permission would
 * not hold.
 */
export const refuseLimitedAccountManager = (permissions: readonly string[], controls: Controls): void => {
  if (permissions.includes('account.manage') && isLimited(controls))
    throw invalidFields({
      path: 'spending_controls',
      message: 'must be left out with the permission account.manage, which could add a sign-in method that has no limits',
    })
}
