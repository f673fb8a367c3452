import { describe, expect, test } from 'vitest'
import type { Schemas } from '../../client/src/route-types.ts'
import { balanceWords, decidedWords, effectOfChoice, outcomeOf } from '../../dashboard/src/lib/decision-effect.ts'
import { failedTitle, heldWords, wasSent } from '../../dashboard/src/lib/payment-end.ts'
import { setPageZone } from '../../dashboard/src/lib/time.ts'
import { failureCodes, unheldFailures, unsentFailures } from '../../src/errors/failures.ts'

setPageZone('Africa/Nairobi')
const due = '2027-03-05T07:00:00.000Z'
const [before, after] = ['2027-03-04T07:00:00.000Z', '2027-03-05T07:00:30.000Z']

type Approval = Schemas['Approval']
type Change = { scheduled?: boolean; hasFailed?: boolean; status?: Approval['status']; required?: number; left?: string | null }
const common = ({ scheduled = true, hasFailed = false, status = 'pending', required = 1, left = '40000' }: Change) => ({
  status,
  approvals_given: 0,
  required_approvals: required,
  context: { available_after_minor: left },
  subject: {
    status: hasFailed ? 'failed' : scheduled ? 'scheduled' : 'pending_approval',
    execute_at: scheduled ? due : null,
    currency: 'KES',
  },
})
const alone = (change: Change = {}): Approval => {
  const { subject, ...approval } = common(change)
  const payment = {
    ...subject,
    amount_minor: '2500000',
    fee_minor: '0',
    narrative: 'Rent',
    beneficiary: { display_name: 'Amina' },
    decision: { explanation: '' },
  }
  return { ...approval, payment, batch: null } as unknown as Approval
}
const list = (change: Change = {}): Approval => {
  const { subject, ...approval } = common(change)
  return {
    ...approval,
    payment: null,
    batch: { ...subject, items_count: 3, total_minor: '9000000', fees_minor: '0' },
  } as unknown as Approval
}
const plain = (words: string | null): string | null => words?.replaceAll(/[\u00a0\u202f]/g, ' ') ?? null
const day = /Mar.* 5|5 Mar|10:00/

describe('the approval of what is scheduled', () => {
  test.each([
    ['one payment', alone],
    ['a batch', list],
  ] as const)('says when %s is sent, and never that it is on its way', (_, of) => {
    expect(effectOfChoice('approve', [of()])).toMatch(day)
    expect(effectOfChoice('approve', [of()])).toMatch(/^It is sent .* Until then it can be cancelled\.$/)
    expect(effectOfChoice('approve', [of({ required: 2 })])).toMatch(
      /^It needs another approval after yours, before it is due .*10:00/,
    )
    expect(effectOfChoice('reject', [of()])).toBe('It won’t be sent. No money is held for it yet.')
    expect(decidedWords(of({ status: 'approved' }))).toMatch(/^Approved: .* is scheduled for .*10:00/)
  })

  test('says of each how it stands where several are decided', () => {
    const [now, again] = [alone({ scheduled: false }), alone({ scheduled: false, required: 2 })]
    expect(effectOfChoice('approve', [now])).toBe('It is sent and can’t be recalled.')
    expect(effectOfChoice('approve', [now, now])).toBe('They are sent and can’t be recalled.')
    expect(effectOfChoice('approve', [now, again, alone(), alone()])).toBe(
      '1 of them needs another approval after yours before it is sent. 2 of them are sent at their times if the limits and the balance still allow it. Until then they can be cancelled. 1 of them is sent and can’t be recalled.',
    )
    expect(effectOfChoice('reject', [now, now])).toBe('They won’t be sent, and the held amount returns to the balance.')
    expect(effectOfChoice('reject', [now, alone()])).toBe('They won’t be sent, and the held amounts return to the balance.')
    expect(decidedWords(alone({ scheduled: false, status: 'approved' }))).toMatch(/is on its way$/)
  })

  test.each([
    ['one payment', alone],
    ['a batch', list],
  ] as const)('says what %s leaves in the account', (_, of) => {
    expect(plain(balanceWords(of({ scheduled: false })))).toBe('KES 400.00 left in the account afterwards.')
    expect(plain(balanceWords(of()))).toBe('KES 400.00 of today’s balance left afterwards. No money is held until it is sent.')
    expect(plain(balanceWords(of({ left: '-40000' })))).toBe('Today’s balance is KES 400.00 short.')
    expect(balanceWords(of({ left: null }))).toBeNull()
  })
})

test.each([
  ['one payment', alone],
  ['a batch', list],
] as const)('an approval that ends %s, because it no longer passes, says that it could not be sent', (_, of) => {
  const failed = of({ hasFailed: true, scheduled: false, status: 'approved' })
  expect(plain(decidedWords(failed))).toMatch(/^Approved, but KES .* could not be sent/)
  expect([outcomeOf(failed), outcomeOf(of({ status: 'approved' }))]).toEqual(['failed', 'approved'])
})

describe('the end of a payment', () => {
  type Ended = Parameters<typeof heldWords>[0]
  const ended = (change: Partial<Ended>): Ended => ({
    ...{ status: 'failed', failure_code: null, execute_at: null, completed_at: after, approval_id: null },
    ...change,
  })
  const [returned, neverHeld] = ['The held amount returned to the balance.', 'No money was held for it.']

  test.each([
    ['not approved in time', { failure_code: 'approval_expired', approval_id: 'apr_1', execute_at: due }, neverHeld],
    ['without the money at its time', { failure_code: 'insufficient_funds', execute_at: due }, neverHeld],
    ['over a limit at its time', { failure_code: 'policy_denied', execute_at: due }, neverHeld],
    ['rejected before its time', { status: 'cancelled', completed_at: before, approval_id: 'apr_1', execute_at: due }, neverHeld],
    ['cancelled before its time', { status: 'cancelled', completed_at: before, execute_at: due }, neverHeld],
    ['cancelled late, not yet looked at', { status: 'cancelled', execute_at: due }, neverHeld],
    ['cancelled late, perhaps held', { status: 'cancelled', approval_id: 'apr_1', execute_at: due }, ''],
    ['stopped at its time, perhaps held', { failure_code: 'policy_changed', execute_at: due }, ''],
    ['rejected when it was asked for at its time', { status: 'rejected', approval_id: 'apr_1', execute_at: due }, returned],
    ['failed at the provider at its time', { failure_code: 'provider_declined', execute_at: due }, returned],
    ['rejected, never scheduled', { status: 'rejected', approval_id: 'apr_1' }, returned],
    ['stopped, never scheduled', { failure_code: 'policy_changed' }, returned],
  ] as const)('says that money returned only where it was held: %s', (_, change, words) => {
    const payment = ended(change)
    expect(heldWords(payment)).toBe(words)
    expect(failedTitle(payment).includes('is back')).toBe(words === returned)
  })

  test('says that it was sent only where it went to its provider', () => {
    const sent = failureCodes.filter((failure_code) => wasSent({ status: 'failed', failure_code }))
    expect(sent).toEqual(failureCodes.filter((code) => !unsentFailures.includes(code)))
    expect(
      [...unheldFailures, 'policy_changed', 'provider_unreachable'].filter((code) => sent.some((one) => one === code)),
    ).toEqual([])
    expect(
      (['succeeded', 'rejected', 'cancelled', 'expired'] as const).map((status) => wasSent({ status, failure_code: null })),
    ).toEqual([true, false, false, false])
  })
})
