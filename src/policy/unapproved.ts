import type { Minor } from '../lib/money.ts'
import { bindsPayer, namesType } from './scope.ts'
import type { Evaluation, Unapproved } from './types.ts'

const sum = (rows: readonly Unapproved[]): Minor => rows.reduce((total, { amountMinor }) => total + amountMinor, 0n)

// A rule that asks for several people counts what fewer have approved. So of the parts of a sum one always needs as many people as the whole:
// if none had as many, all of them would count, and together they reach the threshold.

/** What counts towards the threshold of a policy: a sum that is split into small payments reaches it all the same. */
export const unapprovedUnderPolicy = (
  { unapproved }: Evaluation,
  policy: { paymentTypes: readonly string[]; bindsGrantId: string | null },
  asked: number,
): Minor =>
  sum(
    unapproved.filter(
      (row) =>
        row.approvals < asked &&
        bindsPayer(policy, row) &&
        (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, row)),
    ),
  )

/** The same for a grant, which asks for one approval: what was paid with it and with those below it. */
export const unapprovedUnderGrant = ({ unapproved }: Evaluation, grantId: string): Minor =>
  sum(unapproved.filter(({ approvals, grantLineage }) => approvals < 1 && grantLineage.includes(grantId)))
