import { describe, expect, test } from 'vitest'
import { evaluate } from '../../src/policy/evaluate.ts'
import type { Evaluation, Limits, Remedy } from '../../src/policy/types.ts'
import { forEvaluations } from './arbitraries.ts'
import { evaluationOf, grant, kes, mandate, now, periods, policy } from './builders.ts'

type Change = Remedy['changes'][number]

const limitFields: Record<string, keyof Limits> = {
  per_payment_limit: 'perPaymentLimitMinor',
  daily_limit: 'dailyLimitMinor',
  monthly_limit: 'monthlyLimitMinor',
  total_limit: 'totalLimitMinor',
  approval_threshold: 'approvalThresholdMinor',
}

const changedLimits = (changes: readonly Change[]): Partial<Limits> =>
  Object.fromEntries(
    changes.flatMap(({ rule, toMinor }) => {
      const field = limitFields[rule]
      return field && toMinor !== undefined ? [[field, toMinor]] : []
    }),
  )

/** A person's reaction to the remedy. */
const apply = (input: Evaluation, changes: readonly Change[]): Evaluation => {
  const of = (kind: string, id: string) => changes.filter(({ source }) => source.kind === kind && source.id === id)
  const names = (list: readonly Change[], rule: string) => list.some((change) => change.rule === rule)
  const namesDuplicate = (list: readonly Change[]) => names(list, 'possible_duplicate') || names(list, 'unconfirmed_duplicate')
  const to = (list: readonly Change[], rule: string) => list.find((change) => change.rule === rule)?.toMinor
  const moved = input.mandate ? of('mandate', input.mandate.id) : []
  const { payment, mandate: named } = input
  const fixed = named && {
    ...named,
    ...(names(moved, 'mandate_status') && { status: 'active' as const }),
    ...(names(moved, 'mandate_window') && { validFrom: payment.at, expiresAt: new Date(payment.at.getTime() + 1) }),
    ...(names(moved, 'mandate_workspace') && { workspaceId: payment.workspaceId }),
    ...(names(moved, 'mandate_initiator') && { grantId: 'new' }),
    ...(names(moved, 'mandate_payment_types') && { paymentTypes: [] }),
    ...(names(moved, 'mandate_beneficiary_ids') && { beneficiaryIds: payment.payeeIsFixed ? [payment.beneficiaryId] : [] }),
    ...(['mandate_signature', 'mandate_unconfirmed', 'mandate_signer'].some((rule) => names(moved, rule)) && {
      standing: 'holds' as const,
    }),
    ...(names(moved, 'mandate_max_payments') && { maxPayments: null }),
    maxPerPaymentMinor: to(moved, 'mandate_per_payment') ?? named.maxPerPaymentMinor,
    maxTotalMinor: to(moved, 'mandate_total') ?? named.maxTotalMinor,
  }
  return {
    ...input,
    payment: { ...payment, grantLineage: [...payment.grantLineage, 'new'] },
    capabilities: { payments: true },
    policies: input.policies.map((rules) => ({
      ...rules,
      ...changedLimits(of('policy', rules.id)),
      ...(names(of('policy', rules.id), 'required_approval_count') && { requiredApprovalCount: 0 }),
      ...(namesDuplicate(of('policy', rules.id)) && { onDuplicate: 'warn' as const }),
      ...(names(of('policy', rules.id), 'unconfirmed_payee') && { newPayees: null }),
      ...(names(of('policy', rules.id), 'payee_verification') && { payeeVerification: null }),
    })),
    grants: input.grants.map((rules) => ({
      ...rules,
      ...changedLimits(of('grant', rules.id)),
      ...(names(of('grant', rules.id), 'payment_types') && { paymentTypes: null }),
      ...(names(of('grant', rules.id), 'beneficiary_ids') && { beneficiaryIds: null }),
      ...(names(of('grant', rules.id), 'unconfirmed_payee') && { newPayees: 'allow' as const }),
      ...(namesDuplicate(of('grant', rules.id)) && { onDuplicate: null }),
    })),
    mandate: fixed,
    // The request's own rules, and facts that only the provider knows. The new grant does not make a person's payment an agent's.
    onDuplicate: changes.some(({ source }) => source.kind === 'policy' && source.id === null) ? null : input.onDuplicate,
    earlier: input.earlier && {
      ...input.earlier,
      isUnknown: input.earlier.isUnknown && payment.grantLineage.length > 0 && !names(changes, 'earlier_unknown'),
    },
  }
}

const paying = (input: Evaluation, amountMinor: bigint): Evaluation => ({ ...input, payment: { ...input.payment, amountMinor } })

/** A denied payment passes if it is not denied, unless too few people can approve it. Any other passes if it is allowed. */
const passesAs = (asked: Evaluation) => {
  const { outcome, trace } = evaluate(asked)
  const canBeApproved = trace.every((entry) => entry.rule !== 'eligible_approvers' || entry.outcome !== 'deny')
  const goals = outcome === 'deny' && canBeApproved ? ['allow', 'require_approval'] : ['allow']
  return (changed: Evaluation) => goals.includes(evaluate(changed).outcome)
}

/** The counters at a later instant without other payments. */
const waitingUntil = (input: Evaluation, at: Date): Evaluation => {
  const rested = <T extends { usage: { dayMinor: bigint; monthMinor: bigint; totalMinor: bigint } }>(rules: T): T => ({
    ...rules,
    usage: {
      dayMinor: at >= periods.dayResetsAt ? 0n : rules.usage.dayMinor,
      monthMinor: at >= periods.monthResetsAt ? 0n : rules.usage.monthMinor,
      totalMinor: rules.usage.totalMinor,
    },
  })
  return { ...input, payment: { ...input.payment, at }, policies: input.policies.map(rested), grants: input.grants.map(rested) }
}

const forRemedies = (check: (input: Evaluation, remedy: Remedy) => void) =>
  forEvaluations((input) => {
    const { remedy } = evaluate(input)
    if (remedy) check(input, remedy)
  })

describe('a remedy is correct', () => {
  test('the largest amount is not denied, is one that the rail can send, and one unit more is denied', () => {
    const denied = (input: Evaluation, amount: bigint) =>
      evaluate(paying(input, amount)).trace.filter((entry) => entry.outcome === 'deny')
    const isRefused = (input: Evaluation) => evaluate(input).outcome === 'deny'
    forRemedies((input, { maxAmountMinor: most }) => {
      if (most === null) return
      const deniedAt = denied(input, most).filter(({ rule }) => isRefused(input) || rule !== 'eligible_approvers')
      expect([most % input.unitMinor, most >= (input.minMinor ?? 0n), deniedAt]).toEqual([0n, true, []])
      expect(denied(input, most + input.unitMinor)).not.toEqual([])
    })
  })

  test('the largest amount is never below a threshold that asks about the requested amount', () => {
    forRemedies((input, { maxAmountMinor: most }) => {
      if (most === null) return
      const asks = (amount: bigint) =>
        evaluate(paying(input, amount)).trace.filter(
          (entry) => entry.rule === 'approval_threshold' && (entry.requiredApprovals ?? 0) > 0,
        )
      expect(asks(most).length).toBeGreaterThanOrEqual(asks(input.payment.amountMinor).length)
    })
  })

  test('the payment passes with all of its changes', () => {
    forRemedies((input, { changes }) => {
      expect(changes.length).toBeGreaterThan(0)
      expect(passesAs(input)(apply(input, changes))).toBe(true)
    })
  })

  test('every one of its changes is needed, and none can be smaller', () => {
    forRemedies((input, { changes }) => {
      for (const left of changes) {
        if (left.source.kind === 'capability') continue
        expect(
          passesAs(input)(
            apply(
              input,
              changes.filter((change) => change !== left),
            ),
          ),
        ).toBe(false)
        const { toMinor } = left
        if (toMinor === undefined) continue
        const less = changes.map((change) => (change === left ? { ...change, toMinor: toMinor - 1n } : change))
        expect(passesAs(input)(apply(input, less))).toBe(false)
      }
    })
  })

  test('at passesAt the same payment passes, and before it does not', () => {
    forRemedies((input, { passesAt }) => {
      if (!passesAt) return
      expect(passesAs(input)(waitingUntil(input, passesAt))).toBe(true)
      expect(passesAs(input)(waitingUntil(input, new Date(passesAt.getTime() - 1)))).toBe(false)
    })
  })

  test('without passesAt neither the next day nor the next month lets it pass', () => {
    forRemedies((input, { passesAt }) => {
      if (passesAt) return
      for (const at of [periods.dayResetsAt, periods.monthResetsAt]) expect(passesAs(input)(waitingUntil(input, at))).toBe(false)
    })
  })
})

describe('the remedy', () => {
  const spent = (over: Parameters<typeof policy>[0]) =>
    policy({ ...over, usage: { dayMinor: kes(4200), monthMinor: kes(9000), totalMinor: 0n } })
  const source = { kind: 'policy', id: 'p1', name: 'Team lunch' }
  const remedyOf = (over: Parameters<typeof evaluationOf>[0]) => evaluate(evaluationOf(over)).remedy

  test('of a daily limit has the remaining amount, the sufficient limit, and tomorrow', () => {
    expect(remedyOf({ policies: [spent({ dailyLimitMinor: kes(5000) })] })).toEqual({
      maxAmountMinor: kes(800),
      changes: [{ source, rule: 'daily_limit', toMinor: kes(5200) }],
      passesAt: periods.dayResetsAt,
    })
  })

  test('of a daily and a monthly limit has the later of the resets', () => {
    const remedy = remedyOf({ policies: [spent({ dailyLimitMinor: kes(5000), monthlyLimitMinor: kes(9500) })] })
    expect(remedy).toMatchObject({ maxAmountMinor: kes(500), passesAt: periods.monthResetsAt })
  })

  test('of a daily limit is tomorrow, and no threshold, also for a payment that then waits for an approval', () => {
    const policies = [spent({ dailyLimitMinor: kes(5000), approvalThresholdMinor: kes(500) })]
    expect(remedyOf({ policies })).toEqual({
      maxAmountMinor: kes(800),
      changes: [{ source, rule: 'daily_limit', toMinor: kes(5200) }],
      passesAt: periods.dayResetsAt,
    })
  })

  test('of a daily limit and more approvals than people can give has no day', () => {
    const policies = [spent({ dailyLimitMinor: kes(5000), approvalThresholdMinor: kes(500), requiredApprovalCount: 10 })]
    expect(remedyOf({ policies })).toMatchObject({
      changes: [{ rule: 'daily_limit' }, { rule: 'approval_threshold' }],
      passesAt: null,
    })
  })

  test('of a daily limit below the amount has no day', () => {
    expect(remedyOf({ policies: [policy({ dailyLimitMinor: kes(999) })] })).toMatchObject({
      maxAmountMinor: kes(999),
      passesAt: null,
    })
  })

  test('of a threshold names no amount below it, and a threshold one cent above the amount', () => {
    expect(remedyOf({ policies: [policy({ approvalThresholdMinor: kes(700) })] })).toEqual({
      maxAmountMinor: null,
      changes: [{ source, rule: 'approval_threshold', toMinor: kes(1000.01) }],
      passesAt: null,
    })
  })

  test('of more approvals than people can give names no amount that would need as many', () => {
    const policies = [
      policy({ approvalThresholdMinor: kes(1), requiredApprovalCount: 10 }),
      policy({ id: 'p2', dailyLimitMinor: kes(5000) }),
    ]
    expect(remedyOf({ policies })).toMatchObject({ maxAmountMinor: null })
  })

  test('of a payment that may be approved is what its receipt says for ever, also where more would need too many approvals', () => {
    const policies = [
      policy({ approvalThresholdMinor: kes(500) }),
      policy({ id: 'p2', approvalThresholdMinor: kes(3000), requiredApprovalCount: 10 }),
      policy({ id: 'p3', dailyLimitMinor: kes(5000) }),
    ]
    expect(evaluate(evaluationOf({ policies }))).toMatchObject({
      outcome: 'require_approval',
      remedy: { maxAmountMinor: kes(5000) },
    })
  })

  test('of approvals for every payment has no amount', () => {
    expect(remedyOf({ policies: [policy({ requiredApprovalCount: 2 })] })).toEqual({
      maxAmountMinor: null,
      changes: [{ source, rule: 'required_approval_count' }],
      passesAt: null,
    })
  })

  test('of a limit that resets after the mandate ends has no time', () => {
    const policies = [spent({ dailyLimitMinor: kes(5000) })]
    expect(remedyOf({ policies, mandate: mandate({ expiresAt: periods.dayResetsAt }) })?.passesAt).toBeNull()
    const justAfter = new Date(periods.dayResetsAt.getTime() + 1)
    expect(remedyOf({ policies, mandate: mandate({ expiresAt: justAfter }) })?.passesAt).toEqual(periods.dayResetsAt)
  })

  test('of a mandate that does not fit includes its approval, so the threshold need not change', () => {
    const policies = [policy({ approvalThresholdMinor: kes(100) })]
    expect(remedyOf({ policies, mandate: mandate({ expiresAt: now }) })?.changes.map(({ rule }) => rule)).toEqual([
      'mandate_window',
    ])
    const small = remedyOf({ policies, mandate: mandate({ maxPerPaymentMinor: kes(600) }) })
    expect(small).toMatchObject({ maxAmountMinor: kes(600), changes: [{ rule: 'mandate_per_payment', toMinor: kes(1000) }] })
  })

  test('of two approvals for every payment, one of them by a mandate, does not change the possible duplicate as well', () => {
    const policies = [policy({ requiredApprovalCount: 2, onDuplicate: 'require_approval' })]
    const earlier = { paymentId: 'earlier', createdAt: new Date(now.getTime() - 60_000), isUnknown: false }
    const rulesOf = (over: Parameters<typeof evaluationOf>[0]) =>
      remedyOf({ policies, earlier, ...over })?.changes.map(({ rule }) => rule)
    expect(rulesOf({ mandate: mandate() })).toEqual(['required_approval_count'])
    expect(rulesOf({})).toEqual(['required_approval_count', 'possible_duplicate'])
  })

  test('of a list that does not name the payee has no amount and no time', () => {
    expect(remedyOf({ grants: [grant({ beneficiaryIds: ['landlord'] })] })).toMatchObject({
      maxAmountMinor: null,
      passesAt: null,
    })
  })
})
