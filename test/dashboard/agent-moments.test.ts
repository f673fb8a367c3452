import { describe, expect, test } from 'vitest'
import type { Schemas } from '../../client/src/route-types.ts'
import { type Moment, timelineOf } from '../../dashboard/src/pages/agents/agent-moments.ts'
import { changesInEvents, changeWords, type GrantState } from '../../dashboard/src/pages/agents/grant-changes.ts'

const at = (minute: number, day = 10) => new Date(Date.UTC(2026, 2, day, 9, minute)).toISOString()

const paid = (minute: number, { day = 10, status = 'succeeded' }: { day?: number; status?: string } = {}): Moment => {
  const payment = { id: `pay ${day} ${minute}`, status, created_at: at(minute, day) } as Schemas['Payment']
  return { key: payment.id, at: payment.created_at, kind: 'payment', payment }
}
const refused = (minute: number): Moment => ({
  key: `refused ${minute}`,
  at: at(minute),
  kind: 'refusal',
  refusal: {} as Schemas['RefusedPayment'],
})
const kindsOf = (moments: readonly Moment[]) =>
  moments.map((moment) => (moment.kind === 'payments' ? `${moment.payments.length} payments` : moment.kind))

describe('the timeline of an agent', () => {
  test('is newest first over all lists, and gathers payments of one day that went through one after the other', () => {
    const payments = [1, 2, 3, 5, 6].map((minute) => paid(minute))
    const moments = timelineOf([
      { moments: [refused(4)], readTo: null },
      { moments: payments, readTo: null },
    ])
    expect(kindsOf(moments)).toEqual(['payment', 'payment', 'refusal', '3 payments'])
  })

  test('never gathers over a day, over a refusal or over a payment that did not go through', () => {
    const over = (...moments: Moment[]) => kindsOf(timelineOf([{ moments, readTo: null }]))
    expect(over(paid(1), paid(2), paid(3, { day: 11 }))).toEqual(['payment', 'payment', 'payment'])
    expect(over(paid(1), paid(2), refused(3), paid(4))).toEqual(['payment', 'refusal', 'payment', 'payment'])
    expect(over(paid(1), paid(2), paid(3, { status: 'failed' }))).toEqual(['payment', 'payment', 'payment'])
  })

  test('ends where one of its lists was read to, also where nothing of that list is shown', () => {
    const older = { moments: [refused(1), refused(9)], readTo: null }
    expect(kindsOf(timelineOf([older, { moments: [paid(8)], readTo: at(8) }]))).toEqual(['refusal', 'payment'])
    expect(kindsOf(timelineOf([older, { moments: [], readTo: at(5) }]))).toEqual(['refusal'])
    expect(kindsOf(timelineOf([older, { moments: [], readTo: null }]))).toEqual(['refusal', 'refusal'])
  })
})

describe('what was changed about an agent', () => {
  const state = (change: Partial<GrantState> = {}): GrantState => ({
    label: 'Invoice bot',
    frozen: false,
    spending_controls: { daily_limit_minor: '50000' },
    ...change,
  })
  const words = (before: GrantState | null, after: GrantState | null) =>
    changeWords({ id: 'x', at: at(1), by: null, before, after }, 'KES').map((text) => text.replaceAll('\u00a0', ' '))

  test.each([
    [state(), state({ frozen: true }), ['frozen']],
    [state({ frozen: true }), state(), ['unfrozen']],
    [state(), null, ['revoked']],
    [state(), state({ label: 'Bot' }), ['renamed from “Invoice bot”']],
    [state(), state({ spending_controls: { daily_limit_minor: '90000' } }), ['daily limit raised from KES 500.00 to KES 900.00']],
    [state(), state({ spending_controls: { daily_limit_minor: '9000' } }), ['daily limit lowered from KES 500.00 to KES 90.00']],
    [state(), state({ spending_controls: {} }), ['daily limit removed']],
    [
      state(),
      state({ spending_controls: { daily_limit_minor: '50000', monthly_limit_minor: '700000', new_payees: 'deny' } }),
      ['monthly limit set to KES 7,000.00', 'what it may pay, or to whom, changed'],
    ],
    [state(), state(), []],
  ])('is said in words', (before, after, expected) => expect(words(before, after)).toEqual(expected))

  test('is told by its own events alone: each by what the one before it said', () => {
    const event = (id: string, type: string, data: unknown) => ({ id, type, created_at: at(1), data }) as Schemas['Event']
    const own = (change: Partial<GrantState> = {}) => ({ id: 'gra_own', ...state(change) })
    const changes = changesInEvents(
      [
        event('4', 'grant.revoked', own()),
        event('3', 'grant.updated', own({ frozen: true })),
        event('2', 'grant.updated', { ...own(), id: 'gra_other' }),
        event('1', 'grant.created', own()),
      ],
      'gra_own',
    )
    expect(changes.map((change) => [change.id, changeWords(change, 'KES')])).toEqual([
      ['4', ['revoked']],
      ['3', ['frozen']],
    ])
  })
})
