import { invalidFields } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type DuplicateAnswer, duplicateAnswers, type NewPayeeAnswer, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { isHigher, isMilder } from '../../policy/loosening.ts'
import type { Limits } from '../../policy/types.ts'

/** A grant's spending controls as stored. Null: the grant does not set this limit. */
export type Controls = Limits & {
  paymentTypes: string[] | null
  beneficiaryIds: Uuid[] | null
  newPayees: NewPayeeAnswer | null
  onDuplicate: DuplicateAnswer | null
}

export type ControlsChange = { [Name in keyof Controls]?: Controls[Name] | undefined }

const allowsMore = (before: readonly string[] | null, after: readonly string[] | null): boolean =>
  before !== null && (after === null || after.some((item) => !before.includes(item)))

type IsWider<Value> = (before: Value, after: Value) => boolean

/** For each control, whether a change permits more than before. */
const wider: { readonly [Name in keyof Controls]: IsWider<Controls[Name]> } = {
  perPaymentLimitMinor: isHigher,
  dailyLimitMinor: isHigher,
  monthlyLimitMinor: isHigher,
  totalLimitMinor: isHigher,
  approvalThresholdMinor: isHigher,
  paymentTypes: allowsMore,
  beneficiaryIds: allowsMore,
  newPayees: (before, after) => isMilder(newPayeeAnswers, before, after, 'require_approval'),
  onDuplicate: (before, after) => isMilder(duplicateAnswers, before, after, 'warn'),
}

export const controlNames = Object.keys(wider) as (keyof Controls)[]

export const noControls = Object.fromEntries(controlNames.map((name) => [name, null])) as { [Name in keyof Controls]: null }

export const changeControls = (controls: Controls, change: ControlsChange): Controls => ({
  ...noControls,
  ...Object.fromEntries(controlNames.map((name) => [name, change[name] === undefined ? controls[name] : change[name]])),
})

export const isWider = <Name extends keyof Controls>(name: Name, before: Controls, after: Controls): boolean =>
  wider[name](before[name], after[name])

export const widens = (before: Controls, after: Controls): boolean => controlNames.some((name) => isWider(name, before, after))

/** Control values that limit nothing. */
const unlimitedValues: readonly unknown[] = [null, 'allow', 'warn', 'confirm']

export const isLimited = (controls: Controls): boolean => controlNames.some((name) => !unlimitedValues.includes(controls[name]))

/** `account.manage` can lead to a session, which has no limits. Limits beside it would therefore have no effect. */
export const refuseLimitedAccountManager = (permissions: readonly string[], controls: Controls): void => {
  if (permissions.includes('account.manage') && isLimited(controls))
    throw invalidFields({
      path: 'spending_controls',
      message: 'must be left out with the permission account.manage, which could add a sign-in method that has no limits',
    })
}
