import fc from 'fast-check'
import { duplicateAnswers, newPayeeAnswers, payeeVerificationAnswers } from '../../src/lib/policy-answers.ts'
import type { Evaluation, GrantRules, MandateRules, MandateSignatureStatus, PolicyRules } from '../../src/policy/types.ts'
import { propertySeed } from '../harness/seed.ts'
import { confirmedPayee, now, periods, proposedPayee } from './builders.ts'

/** Small numbers and few names, so that limits are met exactly, lists overlap and names repeat. */
export const amount = fc.bigInt(1n, 60n)
const limit = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.bigInt(0n, 250n) })
const used = fc.bigInt(0n, 40n)
const usage = fc
  .record({ dayMinor: used, extra: used })
  .map(({ dayMinor, extra }) => ({ dayMinor, monthMinor: dayMinor + extra, totalMinor: dayMinor + extra * 2n }))
const person = fc.constantFrom('ada', 'ada', 'ada', 'ben', 'cat')
const types = fc.subarray(['supplies', 'travel', 'MPESA_B2B', 'PESALINK'])
const payees = fc.subarray(['grocer', 'grocer-again', 'landlord'])
/** Mostly without lists: otherwise too few rules apply to the same payment. */
const mostly = <A, B>(usual: A, other: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })
const instant = fc.integer({ min: 0, max: 40 }).map((days) => new Date(now.getTime() + days * 86_400_000))

const limits = {
  perPaymentLimitMinor: limit,
  dailyLimitMinor: limit,
  monthlyLimitMinor: limit,
  totalLimitMinor: limit,
  totalCountedSince: fc.constantFrom(null, new Date(0)),
  approvalThresholdMinor: limit,
  usage,
}

export const policyRules = (id: string): fc.Arbitrary<PolicyRules> =>
  fc.record({
    id: fc.constant(id),
    name: fc.constant(`policy ${id}`),
    version: fc.integer({ min: 1, max: 9 }),
    bindsGrantId: fc.constantFrom(null, null, null, null, null, null, 'g0', 'g1'),
    ...limits,
    paymentTypes: mostly([], types),
    beneficiaryIds: mostly([], payees),
    requiredApprovalCount: fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 3),
    separationOfDuties: fc.boolean(),
    approvalProof: mostly('any' as const, fc.constant('signature' as const)),
    approverIds: mostly(null, fc.subarray(['ada', 'ben', 'cat'], { minLength: 2 })),
    duplicateWindowSeconds: mostly(null, fc.constantFrom(0, 60, 3600)),
    onDuplicate: mostly(null, fc.constantFrom(...duplicateAnswers)),
    newPayees: mostly(null, fc.constantFrom(...newPayeeAnswers)),
    payeeVerification: mostly(null, fc.constantFrom(...payeeVerificationAnswers)),
  })

const grantRules = (id: string): fc.Arbitrary<GrantRules> =>
  fc.record({
    id: fc.constant(id),
    name: fc.constant(`grant ${id}`),
    ...limits,
    paymentTypes: mostly(null, types),
    beneficiaryIds: mostly(null, payees),
    newPayees: mostly(null, fc.constantFrom(...newPayeeAnswers)),
    onDuplicate: mostly(null, fc.constantFrom(...duplicateAnswers)),
  })

const mandateRules: fc.Arbitrary<MandateRules> = fc.record({
  id: fc.constant('m1'),
  name: fc.constant('mandate'),
  status: mostly('active' as const, fc.constantFrom('exhausted', 'expired', 'revoked')),
  signerAccountId: person,
  workspaceId: mostly('home', fc.constant('office')),
  grantId: fc.constantFrom(null, null, null, null, null, null, 'g0', 'g1'),
  maxTotalMinor: fc.bigInt(0n, 900n),
  maxPerPaymentMinor: limit,
  maxPayments: mostly(null, fc.integer({ min: 1, max: 5 })),
  beneficiaryIds: mostly([], payees),
  paymentTypes: mostly([], types),
  validFrom: fc.constant(new Date(now.getTime() - 86_400_000)),
  expiresAt: instant,
  spentMinor: used,
  paymentsMade: fc.integer({ min: 0, max: 5 }),
  standing: fc.constantFrom(
    ...Array(27).fill('holds'),
    'unanswered',
    'refused',
    'excluded',
  ) as fc.Arbitrary<MandateSignatureStatus>,
})

const grantChain = fc.constantFrom<string[]>([], ['g0'], ['g0', 'g1'])

const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

export const evaluation: fc.Arbitrary<Evaluation> = grantChain.chain((grantLineage) =>
  fc.record({
    payment: fc.record({
      amountMinor: amount,
      paymentType: fc.constantFrom('supplies', 'travel'),
      rail: fc.constantFrom('MPESA_B2B', 'PESALINK'),
      beneficiaryId: fc.constant('grocer'),
      payeeBeneficiaryIds: fc.constantFrom(['grocer'], ['grocer', 'grocer-again']),
      paybillBeneficiaryIds: fc.constantFrom([], ['rent']),
      payeeIsFixed: fc.boolean(),
      payee: mostly(confirmedPayee, fc.constantFrom(proposedPayee, { ...confirmedPayee, verification: 'no_match' as const })),
      workspaceId: fc.constant('home'),
      initiatorAccountId: person,
      grantLineage: fc.constant(grantLineage),
      at: fc.constant(now),
    }),
    policies: fc.subarray(['p0', 'p1', 'p2', 'p3']).chain((ids) => fc.tuple(...ids.map(policyRules))),
    grants: fc.tuple(...grantLineage.map(grantRules)),
    mandate: fc.oneof(fc.constant(null), fc.constant(null), mandateRules),
    approvers: mostly(['ada', 'ben', 'cat'], fc.array(person, { maxLength: 4 })).chain((eligibleAccountIds) =>
      fc.record({ eligibleAccountIds: fc.constant(eligibleAccountIds), signingAccountIds: fc.subarray(eligibleAccountIds) }),
    ),
    periods: fc.constant(periods),
    earlier: seldom(
      fc.record({
        paymentId: fc.constant('earlier'),
        createdAt: fc.constant(new Date(now.getTime() - 600_000)),
        isUnknown: fc.boolean(),
      }),
    ),
    duplicateIsIntended: fc.boolean(),
    onDuplicate: mostly(null, fc.constantFrom(...duplicateAnswers)),
    duplicateWindowSeconds: fc.constantFrom(0, 3600),
    unapproved: mostly(
      [],
      fc.array(
        fc.record({
          paymentType: fc.constantFrom('supplies', 'travel'),
          rail: fc.constantFrom('MPESA_B2B', 'PESALINK'),
          grantLineage: fc.constantFrom([], ['g0'], ['g0', 'g1']),
          approvals: fc.constantFrom(0, 1, 2),
          amountMinor: amount,
        }),
        { maxLength: 3 },
      ),
    ),
    unitMinor: fc.constantFrom(1n, 7n),
    minMinor: fc.constantFrom(1n, 70n),
    capabilities: fc.record({ payments: mostly(true, fc.constant(false)) }),
  }),
)

const numRuns = 4000
let made: readonly Evaluation[] | undefined

/** A property of evaluations. All properties share one set, because making an evaluation costs more than checking it. */
export const forEvaluations = (check: (input: Evaluation) => void): void => {
  made ??= fc.sample(evaluation, { numRuns, seed: propertySeed })
  try {
    for (const input of made) check(input)
  } catch (error) {
    // Runs again to find the smallest failing evaluation.
    fc.assert(fc.property(evaluation, check), { numRuns })
    throw error
  }
}
