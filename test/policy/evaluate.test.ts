import { describe, expect, test } from 'vitest'
import { chargesFor, evaluate, stillCovered } from '../../src/policy/evaluate.ts'
import type { Evaluation } from '../../src/policy/types.ts'
import { confirmedPayee, evaluationOf, grant, kes, mandate, now, periods, policy } from './builders.ts'
import { cases } from './cases.ts'

describe.each(Object.entries(cases))('%s', (_, rows) => {
  test.each(rows)('$name', (row) => {
    const decision = evaluate(row.input)
    expect(decision.outcome).toBe(row.outcome)
    expect(decision.trace.filter((entry) => entry.decisive).map((entry) => entry.rule)).toEqual(row.decisive ?? [])
    if (row.approvals !== undefined) expect(decision.requiredApprovals).toBe(row.approvals)
    if (row.byMandate !== undefined) expect(decision.approvalsByMandate).toBe(row.byMandate)
    if (row.separated !== undefined) expect(decision.separationOfDuties).toBe(row.separated)
    expect(decision.remedy === undefined).toBe(row.outcome === 'allow')
  })
})

test('the table has at least 60 cases', () => {
  expect(Object.values(cases).flat().length).toBeGreaterThanOrEqual(60)
})

test('a policy of one grant replaces the warnings of no new decision, and a stored one is reached again as it was', () => {
  const quiet = { bindsGrantId: 'g1', duplicateWindowSeconds: 0, payeeVerification: 'off' as const }
  const input = evaluationOf({
    payment: { grantLineage: ['g1'], payee: { ...confirmedPayee, verification: 'no_match' } },
    policies: [policy(quiet)],
    grants: [grant()],
    earlier: { paymentId: 'earlier', createdAt: new Date(now.getTime() - 600_000), isUnknown: false },
  })
  const codesOf = (evaluation: Evaluation) => evaluate(evaluation).warnings.map(({ code }) => code)
  expect(codesOf(input)).toEqual([])
  expect(codesOf({ ...input, boundPoliciesOnlyWarn: true })).toEqual(['possible_duplicate', 'name_mismatch'])
})

describe('the trace', () => {
  test('shows every rule in order: capability, policies by id, grants from the root, mandate, signer, approvers', () => {
    const decision = evaluate(
      evaluationOf({
        payment: { grantLineage: ['g0', 'g1'] },
        policies: [policy({ id: 'p2', requiredApprovalCount: 1 }), policy({ id: 'p1', dailyLimitMinor: kes(1) })],
        grants: [grant({ id: 'g0', paymentTypes: ['supplies'] }), grant({ id: 'g1', monthlyLimitMinor: kes(9000) })],
        mandate: mandate(),
      }),
    )
    expect(decision.trace.map(({ source, rule }) => `${source.id ?? source.name ?? '-'} ${rule}`)).toEqual([
      'payments payments',
      'p1 daily_limit',
      'p2 required_approval_count',
      'g0 payment_types',
      'g1 monthly_limit',
      'm1 mandate_status',
      'm1 mandate_window',
      'm1 mandate_workspace',
      'm1 mandate_initiator',
      'm1 mandate_total',
      'm1 mandate_signer',
      '- eligible_approvers',
    ])
    expect(decision.policyVersions).toEqual([
      { id: 'p1', version: 1 },
      { id: 'p2', version: 1 },
    ])
  })

  test('shows limit, usage, request and reset', () => {
    const usage = { dayMinor: kes(4200), monthMinor: kes(9000), totalMinor: 0n }
    const decision = evaluate(evaluationOf({ policies: [policy({ dailyLimitMinor: kes(5000), usage })] }))
    expect(decision.trace[1]).toEqual({
      source: { kind: 'policy', id: 'p1', name: 'Team lunch' },
      rule: 'daily_limit',
      outcome: 'deny',
      limitMinor: kes(5000),
      usedMinor: kes(4200),
      requestedMinor: kes(1000),
      resetsAt: periods.dayResetsAt,
      decisive: true,
    })
  })

  test('shows how many approvals are missing and how many people may give one', () => {
    const decision = evaluate(evaluationOf({ policies: [policy({ requiredApprovalCount: 3 })], mandate: mandate() }))
    expect(decision.trace.at(-1)).toMatchObject({ rule: 'eligible_approvers', requiredApprovals: 2, eligibleApprovers: 2 })
  })
})

describe('charges', () => {
  test('are made to the policies that apply to the payment, every grant of the chain and the mandate, sorted', () => {
    const charges = chargesFor(
      evaluationOf({
        policies: [policy({ id: 'p2' }), policy({ id: 'p1' }), policy({ id: 'p0', paymentTypes: ['travel'] })],
        grants: [grant({ id: 'g1' }), grant({ id: 'g0' })],
        mandate: mandate(),
      }),
    )
    expect(charges.map((charge) => [charge.subject, charge.subjectId, charge.period, charge.periodStart].join(' '))).toEqual([
      'grant g0 day 2026-03-10',
      'grant g0 month 2026-03-01',
      'grant g1 day 2026-03-10',
      'grant g1 month 2026-03-01',
      'mandate m1 total ',
      'policy p1 day 2026-03-10',
      'policy p1 month 2026-03-01',
      'policy p2 day 2026-03-10',
      'policy p2 month 2026-03-01',
    ])
  })

  test('a payment under no rule is charged to nothing', () => {
    expect(chargesFor(evaluationOf())).toEqual([])
  })
})

describe('approvals given, compared with a new decision', () => {
  const two = policy({ requiredApprovalCount: 2 })
  const separated = policy({ id: 'p2', separationOfDuties: true })
  const signed = policy({ id: 'p3', approvalProof: 'signature' })
  const coveredBy = (over: Parameters<typeof evaluationOf>[0], approverAccountIds: string[], signedAccountIds: string[]) =>
    stillCovered(evaluate(evaluationOf({ signers: ['ada', 'ben', 'cat'], ...over })), {
      approverAccountIds,
      signedAccountIds,
      initiatorAccountId: 'ada',
    })
  const covered = (over: Parameters<typeof evaluationOf>[0], ...approvers: string[]) => coveredBy(over, approvers, approvers)

  test.each([
    ['a payment that needs none is covered by none', covered({}), true],
    ['as many as needed cover it', covered({ policies: [two] }, 'ben', 'cat'), true],
    ['fewer do not', covered({ policies: [two] }, 'ben'), false],
    ['one approver counts once', covered({ policies: [two] }, 'ben', 'ben'), false],
    ['the initiator counts', covered({ policies: [two] }, 'ada', 'ben'), true],
    ['but not under separation of duties', covered({ policies: [two, separated] }, 'ada', 'ben'), false],
    ["the mandate's approval counts", covered({ policies: [two], mandate: mandate() }, 'ben'), true],
    ["and the signer's own decision no second time", covered({ policies: [two], mandate: mandate() }, 'ada'), false],
    ['without a demand for signatures an unsigned approval covers', coveredBy({ policies: [two] }, ['ben', 'cat'], []), true],
    ['with one only the signed ones', coveredBy({ policies: [two, signed] }, ['ben', 'cat'], ['ben']), false],
    ['as many of them as needed', coveredBy({ policies: [two, signed] }, ['ada', 'ben', 'cat'], ['ben', 'cat']), true],
    ['nothing covers a denial', covered({ payments: 'disabled' }, 'ada', 'ben', 'cat'), false],
  ])('%s', (_, actual, expected) => {
    expect(actual).toBe(expected)
  })
})

test('a rule without an amount that time lifts says in the trace when it does, where it stops the payment', () => {
  const earlier = { paymentId: 'earlier', createdAt: new Date(now.getTime() - 600_000), isUnknown: false }
  const traced = (onDuplicate: 'warn' | 'deny') =>
    evaluate(evaluationOf({ earlier, policies: [policy({ onDuplicate })] })).trace.find(
      ({ rule }) => rule === 'possible_duplicate',
    )
  expect(traced('deny')).toMatchObject({ outcome: 'deny', resetsAt: new Date(earlier.createdAt.getTime() + 3_600_000) })
  expect(traced('warn')).not.toHaveProperty('resetsAt')
})
