import type { Minor } from '../lib/money.ts'
import { bindsPayer, namesType } from './scope.ts'
import type { Evaluation, Unapproved } from './types.ts'

const sum = (rows: readonly Unapproved[]): Minor => rows.reduce((total, { amountMinor }) => total + amountMinor, 0n)

/** What counts towards the threshold of a policy: a sum that is split into small payments reaches it all the same. */
export const unapprovedUnderPolicy = (
  { unapproved }: Evaluation,
  policy: { paymentTypes: readonly string[]; bindsGrantId: string | null },
): Minor =>
  sum(
    unapproved.filter(
      (row) => bindsPayer(policy, row) && (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, row)),
    ),
  )

/** The same for a grant: what was paid with it and with those below it. */
export const unapprovedUnderGrant = ({ unapproved }: Evaluation, grantId: string): Minor =>
  sum(unapproved.filter(({ grantLineage }) => grantLineage.includes(grantId)))
